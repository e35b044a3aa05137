# packages.mk: sources, wheels and Debian's packages; included by the Makefile.

.PHONY: release
## release: all packages, made twice in a Debian of their own and checked, in build/release/out; needs root
release:
	$(Q)packages/release.sh $(BUILD)
