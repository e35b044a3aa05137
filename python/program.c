/* program.c: a command of the Python package; leat/lib/libleat_all.so, which the extension needs too, has all of it. */
int PROGRAM_MAIN(int argc, char **argv);

int main(int argc, char **argv)
{
    return PROGRAM_MAIN(argc, argv);
}
