#!/usr/bin/env python3
"""gen_properties.py [--check]: makes property_tables.h of tokenize_tools/tokenizer/: the scripts, general categories
and other properties that a tokenizer's expression may name as \\p{...}, besides those of unicode_tables.h.

As gen_unicode.py does, it asks the reference libraries which characters have a property. tiktoken's engine is asked for
each of all characters. That of tokenizers is slow: for scripts and categories it is asked for the members alone, which
is enough, since a character has one script and one category, and all together are all characters. --check makes the
table anew and compares it with the file.
"""
import os
import sys
from importlib.metadata import version

from c_arrays import lines_of
from gen_unicode import FOLDER, POINTS, oniguruma_class, oniguruma_drops, rust_class, rust_matches

FILE = "property_tables.h"

# Names of each property from Unicode's PropertyAliases.txt and PropertyValueAliases.txt; an expression may use any.
SCRIPTS = """Adlam Adlm, Ahom, Anatolian_Hieroglyphs Hluw, Arabic Arab, Armenian Armn, Avestan Avst, Balinese Bali,
Bamum Bamu, Bassa_Vah Bass, Batak Batk, Bengali Beng, Bhaiksuki Bhks, Bopomofo Bopo, Brahmi Brah, Braille Brai,
Buginese Bugi, Buhid Buhd, Canadian_Aboriginal Cans, Carian Cari, Caucasian_Albanian Aghb, Chakma Cakm, Cham,
Cherokee Cher, Chorasmian Chrs, Common Zyyy, Coptic Copt, Cuneiform Xsux, Cypriot Cprt, Cypro_Minoan Cpmn,
Cyrillic Cyrl, Deseret Dsrt, Devanagari Deva, Dives_Akuru Diak, Dogra Dogr, Duployan Dupl, Egyptian_Hieroglyphs Egyp,
Elbasan Elba, Elymaic Elym, Ethiopic Ethi, Garay Gara, Georgian Geor, Glagolitic Glag, Gothic Goth, Grantha Gran,
Greek Grek, Gujarati Gujr, Gunjala_Gondi Gong, Gurmukhi Guru, Gurung_Khema Gukh, Han Hani, Hangul Hang,
Hanifi_Rohingya Rohg, Hanunoo Hano, Hatran Hatr, Hebrew Hebr, Hiragana Hira, Imperial_Aramaic Armi, Inherited Zinh,
Inscriptional_Pahlavi Phli, Inscriptional_Parthian Prti, Javanese Java, Kaithi Kthi, Kannada Knda, Katakana Kana,
Kawi, Kayah_Li Kali, Kharoshthi Khar, Khitan_Small_Script Kits, Khmer Khmr, Khojki Khoj, Khudawadi Sind,
Kirat_Rai Krai, Lao Laoo, Latin Latn, Lepcha Lepc, Limbu Limb, Linear_A Lina, Linear_B Linb, Lisu, Lycian Lyci,
Lydian Lydi, Mahajani Mahj, Makasar Maka, Malayalam Mlym, Mandaic Mand, Manichaean Mani, Marchen Marc,
Masaram_Gondi Gonm, Medefaidrin Medf, Meetei_Mayek Mtei, Mende_Kikakui Mend, Meroitic_Cursive Merc,
Meroitic_Hieroglyphs Mero, Miao Plrd, Modi, Mongolian Mong, Mro Mroo, Multani Mult, Myanmar Mymr, Nabataean Nbat,
Nag_Mundari Nagm, Nandinagari Nand, New_Tai_Lue Talu, Newa, Nko Nkoo, Nushu Nshu, Nyiakeng_Puachue_Hmong Hmnp,
Ogham Ogam, Ol_Chiki Olck, Ol_Onal Onao, Old_Hungarian Hung, Old_Italic Ital, Old_North_Arabian Narb, Old_Permic Perm,
Old_Persian Xpeo, Old_Sogdian Sogo, Old_South_Arabian Sarb, Old_Turkic Orkh, Old_Uyghur Ougr, Oriya Orya, Osage Osge,
Osmanya Osma, Pahawh_Hmong Hmng, Palmyrene Palm, Pau_Cin_Hau Pauc, Phags_Pa Phag, Phoenician Phnx,
Psalter_Pahlavi Phlp, Rejang Rjng, Runic Runr, Samaritan Samr, Saurashtra Saur, Sharada Shrd, Shavian Shaw,
Siddham Sidd, SignWriting Sgnw, Sinhala Sinh, Sogdian Sogd, Sora_Sompeng Sora, Soyombo Soyo, Sundanese Sund,
Sunuwar Sunu, Syloti_Nagri Sylo, Syriac Syrc, Tagalog Tglg, Tagbanwa Tagb, Tai_Le Tale, Tai_Tham Lana, Tai_Viet Tavt,
Takri Takr, Tamil Taml, Tangsa Tnsa, Tangut Tang, Telugu Telu, Thaana Thaa, Thai, Tibetan Tibt, Tifinagh Tfng,
Tirhuta Tirh, Todhri Todr, Toto, Tulu_Tigalari Tutg, Ugaritic Ugar, Vai Vaii, Vithkuqi Vith, Wancho Wcho,
Warang_Citi Wara, Yezidi Yezi, Yi Yiii, Zanabazar_Square Zanb"""
CATEGORIES = """Cf Format, Cn Unassigned, Co Private_Use, Mc Spacing_Mark, Me Enclosing_Mark, Mn Nonspacing_Mark,
Nl Letter_Number, No Other_Number, Pc Connector_Punctuation, Pd Dash_Punctuation, Pe Close_Punctuation,
Pf Final_Punctuation, Pi Initial_Punctuation, Po Other_Punctuation, Ps Open_Punctuation, Sc Currency_Symbol,
Sk Modifier_Symbol, Sm Math_Symbol, So Other_Symbol"""
# Categories that unicode_tables.h has or pattern_parse.c writes out. All categories together cover all characters.
OTHER_CATEGORIES = ("Cc", "Ll", "Lm", "Lo", "Lt", "Lu", "Nd", "Zl", "Zp", "Zs")
OTHERS = """Alphabetic Alpha, Dash, Default_Ignorable_Code_Point DI, Diacritic Dia, Emoji, Emoji_Presentation,
Emoji_Modifier, Emoji_Modifier_Base, Emoji_Component, Extended_Pictographic, Hex_Digit Hex, Ideographic Ideo,
Join_Control Join_C, Lowercase Lower, Math, Quotation_Mark QMark, Regional_Indicator, Unified_Ideograph UIdeo,
Uppercase Upper, Variation_Selector VS"""


def lists_of_names(text):
    return [names.split() for names in text.replace("\n", " ").split(", ")]


def probe(names):
    """Returns the members by tiktoken's engine. Both engines must know all names."""
    members = rust_class(rf"\p{{{names[0]}}}")
    sample = "".join(map(chr, sorted(members)[:3]))
    for name in names:
        expression = rf"\p{{{name}}}+"
        if rust_matches(expression, sample) != sample or oniguruma_drops(expression, sample):
            sys.exit(f"{name} is not {names[0]}")
    return members


def probe_partition(lists, whole):
    """Returns the members of properties of which each character in `whole` has exactly one."""
    found = [(names, probe(names)) for names in lists]
    for names, members in found:
        if oniguruma_drops(rf"\p{{{names[0]}}}+", "".join(map(chr, sorted(members)))):
            sys.exit(f"{names[0]}: the engines differ")
    if sum(len(members) for _, members in found) != len(whole) or set().union(*(m for _, m in found)) != whole:
        sys.exit(f"{lists[0][0]} and so on are not all: is one missing?")
    return found


def probe_others(lists):
    found = [(names, probe(names)) for names in lists]
    for names, members in found:
        if oniguruma_class(rf"\p{{{names[0]}}}") != members:
            sys.exit(f"{names[0]}: the engines differ")
    return found


def ranges_of(members):
    """Returns first and last of each run. Surrogates are no characters: a run continues after them."""
    ranges = []
    for c in sorted(members):
        if ranges and (c == ranges[-1][1] + 1 or (c == 0xE000 and ranges[-1][1] == 0xD7FF)):
            ranges[-1][1] = c
        else:
            ranges.append([c, c])
    return ranges


def make_file():
    unassigned, private = rust_class(r"\p{Cn}"), rust_class(r"\p{Co}")
    found = probe_partition(lists_of_names(SCRIPTS), set(POINTS) - unassigned - private)
    others = set().union(*(rust_class(rf"\p{{{name}}}") for name in OTHER_CATEGORIES))
    found += probe_partition(lists_of_names(CATEGORIES), set(POINTS) - others)
    found += probe_others(lists_of_names(OTHERS))
    ranges, rows = [], []
    for names, members in found:
        mine = ranges_of(members)
        rows += [(name.lower().replace("_", ""), len(ranges), len(mine)) for name in names]
        ranges += mine
    text = (f"/*\n * {FILE}: properties of characters by name, read by pattern_set.c.\n *\n * Made by"
            f" scripts/gen_properties.py from tiktoken {version('tiktoken')} and tokenizers {version('tokenizers')};"
            " do not edit.\n */\n/* clang-format off */\n"
            "#ifndef LEAT_TOKENIZER_PROPERTY_TABLES_H\n#define LEAT_TOKENIZER_PROPERTY_TABLES_H\n\n"
            "#include <stdint.h>\n\n/* first and last character */\n")
    text += f"static const uint32_t property_ranges[{len(ranges)}][2] = {{\n"
    text += lines_of(f"{{0x{a:x}, 0x{b:x}}}," for a, b in ranges) + "\n};\n\n"
    text += "/* where its ranges begin, and how many they are; by name in small letters, without '_' */\n"
    text += "static const struct {\n    const char *name;\n    uint16_t first, count;\n"
    text += f"}} property_names[{len(rows)}] = {{\n"
    text += lines_of(f'{{"{name}", {first}, {count}}},' for name, first, count in sorted(rows)) + "\n};\n\n#endif\n"
    return text


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    path, text = os.path.join(FOLDER, FILE), make_file()
    if not check:
        with open(path, "w") as f:
            f.write(text)
    elif not os.path.exists(path) or open(path).read() != text:
        sys.exit(f"not what scripts/gen_properties.py makes: {FILE}")


if __name__ == "__main__":
    main()
