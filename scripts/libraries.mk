# libraries.mk: the libraries that a build uses if they are there; included by the Makefile. WITH_NAME=no leaves one
# out, WITH_NAME=yes fails without it, WITH_NAME=auto, the default, looks. WITH=no leaves all out but those named.

WITH ?= auto

# A library: its name; how it is looked for, a module of pkg-config or a header; whose it is, PACK: of libleat_pack,
# BASE: of libleat, NONE: loaded when it is needed; what links it, if not its module; what it is for. HAVE_NAME: it is
# used.
define library
OPTIONAL += $(1)
FOR_$(1)  := $(5)
WITH_$(1) ?= $$(WITH)
ifeq ($$(filter auto yes no,$$(WITH_$(1))),)
$$(error WITH_$(1) is auto, yes or no, not "$$(WITH_$(1))")
endif
HAVE_$(1) := $$(if $$(filter no,$$(WITH_$(1))),,$$(shell $(if $(filter %.h,$(2)),printf '\043include <$(2)>\n' | \
             $(CC) $(CPPFLAGS) $(CFLAGS) -E -x c -,$(PKG_CONFIG) --exists '$(2)') >/dev/null 2>&1 && echo 1))
ifeq ($$(WITH_$(1))$$(HAVE_$(1)),yes)
$$(error WITH_$(1)=yes, but there is no $(2): install it (scripts/packages.txt names its package) or leave it out)
endif
ifeq ($$(HAVE_$(1)),1)
WITH_CFLAGS  += -DLEAT_HAVE_$(1)=1 $(if $(filter %.h,$(2)),,$$(shell $(PKG_CONFIG) --cflags '$(2)'))
WITH_LIBS_$(3) += $(or $(4),$$(shell $(PKG_CONFIG) --libs '$(2)'))
endif
endef
uses = $(eval $(call library,$(1),$(strip $(2)),$(strip $(3)),$(strip $(4)),$(strip $(5))))

# gzip is by one of two: isa-l, unless zlib is asked for
ifeq ($(WITH_ZLIB),yes)
WITH_ISAL ?= no
endif
$(call uses,ISAL,   libisal,         PACK,,                             gzip)
ifeq ($(HAVE_ISAL),1)
override WITH_ZLIB := no
endif
$(call uses,ZLIB,   zlib,            PACK,,                             gzip without isa-l)
$(call uses,LZMA,   liblzma,         PACK,,                             xz)
$(call uses,BZ2,    bzlib.h,         PACK, -lbz2,                       bzip2)
$(call uses,LZ4,    liblz4,          PACK,,                             lz4; LZ4_RAW in Parquet)
$(call uses,BROTLI, libbrotlidec,    PACK, -lbrotlidec -lbrotlicommon,  Brotli in Parquet)
$(call uses,YAML,   yaml-0.1,        PACK,,                             configurations of the Hugging Face Hub)
$(call uses,PCRE2,  libpcre2-8,      PACK,,                             tokenizers with unusual patterns)
$(call uses,URING,  liburing,        BASE,,                             reads by io_uring)
$(call uses,CURL,   libcurl >= 7.66, NONE,,                             URLs)

unknown := $(foreach v,$(filter WITH_%,$(.VARIABLES)),$(if $(filter command%,$(origin $(v))),$(filter-out \
           $(OPTIONAL:%=WITH_%),$(v))))
ifneq ($(strip $(unknown)),)
$(error unknown $(strip $(unknown)); there are: $(OPTIONAL:%=WITH_%))
endif

# What objects are made for: they are made anew if that changes, but not by `make install`, as root perhaps, where
# pkg-config may find other things. `leat --version` says it, too.
WITH_LINES := $(foreach l,$(OPTIONAL),$(l) $(or $(HAVE_$(l)),0) $(FOR_$(l))\n)
WITH_FLAGS := $(WITH_CFLAGS) $(WITH_LIBS_PACK) $(WITH_LIBS_BASE)
WITH_KEPT  := $(and $(filter install uninstall,$(MAKECMDGOALS)),$(wildcard $(BUILD)/with))
ifeq ($(WITH_KEPT),)
ifneq ($(shell cat $(BUILD)/with 2>/dev/null),$(WITH_FLAGS))
$(shell mkdir -p $(BUILD) && echo '$(WITH_FLAGS)' >$(BUILD)/with)
endif
endif
