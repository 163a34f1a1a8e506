/* Starts Moot in the Python of its own folder, in this process: Moot.exe and, with -DCONSOLE, bin\moot.exe.

   Python's `sys.executable` is this program. Moot and its libraries start their child processes with it and an option
   of Python, as in `Moot.exe -m app.tools.tool_host`; then it does what python.exe would do. */
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include <windows.h>

#define MOST_PATH 32768
#define STATUS_INCOMPLETE 101

typedef int (*Main)(int, wchar_t **);

/* Returns whether an argument is an option of Python with which a child process begins: -m, -c, -I, -X, -B, -u. */
static int is_pythons(const wchar_t *argument) {
    return argument[0] == L'-' && argument[1] && wcschr(L"mcIXBu", argument[1]) && (!argument[2] || argument[1] == L'X');
}

static int fail(void) {
    const wchar_t *text = L"Files of Moot are missing. Install Moot again.";
#ifdef CONSOLE
    fwprintf(stderr, L"%ls\n", text);
#else
    MessageBoxW(NULL, text, L"Moot", MB_ICONERROR);
#endif
    return STATUS_INCOMPLETE;
}

static void cut_last_part(wchar_t *path) {
    wchar_t *end = wcsrchr(path, L'\\');
    if (end)
        *end = 0;
}

int wmain(int argc, wchar_t **argv) {
    static wchar_t path[MOST_PATH];
    wchar_t **arguments = calloc(argc + 5, sizeof *arguments);
    int count = 0;

    GetModuleFileNameW(NULL, path, MOST_PATH - 32);
    cut_last_part(path);
#ifdef CONSOLE
    cut_last_part(path);
#endif
    wcscat(path, L"\\python");
    /* Extension modules find the libraries of C++ and OpenMP there, as if python.exe had started them. */
    AddDllDirectory(path);
    wcscat(path, L"\\" PYTHON);
    HMODULE library = LoadLibraryExW(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    Main run = library ? (Main)(void *)GetProcAddress(library, "Py_Main") : NULL;
    if (!run || !arguments)
        return fail();

    arguments[count++] = argv[0];
    /* The isolated Python ignores PYTHONIOENCODING and PYTHONUTF8. */
    arguments[count++] = L"-X";
    arguments[count++] = L"utf8";
    if (argc < 2 || !is_pythons(argv[1])) {
        arguments[count++] = L"-m";
        arguments[count++] = L"app";
    }
    for (int i = 1; i < argc; i++)
        arguments[count++] = argv[i];
    return run(count, arguments);
}
