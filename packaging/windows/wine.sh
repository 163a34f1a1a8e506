# Sourced by build.sh and try.sh: a Windows under Wine 8, and programs in it. `prefix FOLDER` chooses where it is kept.
prefix() { # FOLDER
    # Neither .NET nor a browser is to be installed; wbemprox of Wine 8 ends whoever asks it for the version of Windows,
    # as Python does, which looks elsewhere where it is not there.
    export WINEPREFIX=$1 WINEARCH=win64 WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml,wbemprox='
}

new_windows() { # makes what Wine 8 lacks of Windows 10, too
    local system=$WINEPREFIX/drive_c/windows/system32 work=$WINEPREFIX/made name
    windows wineboot -i >/dev/null
    windows winecfg -v win10 >/dev/null
    mkdir -p "$work"
    # Random numbers, for what is written in Rust.
    cat >"$work/random.c" <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE to, SIZE_T size) { return SystemFunction036(to, (ULONG)size); }
C
    # Conversions of character sets, which Qt links to and does not need; all of them fail.
    for name in open close reset getMaxCharSize getName getToUCallBack getFromUCallBack setToUCallBack setFromUCallBack \
        cbToUWriteUChars cbFromUWriteUChars toUnicode fromUnicode toUCountPending fromUCountPending getStandardName \
        getAvailableName countAvailable; do
        echo "__declspec(dllexport) void *ucnv_$name(void) { return 0; }"
    done >"$work/icu.c"
    for name in UCNV_FROM_U_CALLBACK_SUBSTITUTE UCNV_TO_U_CALLBACK_SUBSTITUTE; do
        echo "__declspec(dllexport) void *$name(void) { return 0; }"
    done >>"$work/icu.c"
    x86_64-w64-mingw32-gcc -shared -O2 -o "$system/bcryptprimitives.dll" "$work/random.c" -ladvapi32
    x86_64-w64-mingw32-gcc -shared -O2 -o "$system/icuuc.dll" "$work/icu.c"
}

windows() { # PROGRAM ARGUMENT...; the exit status is the program's, after MOOT_SECONDS it is ended
    # Its standard streams must be pipes: Python under Wine 8 refuses files.
    timeout -k 10 "${MOOT_SECONDS:-600}" wine "$@" </dev/null 2>&1 | cat
    return "${PIPESTATUS[0]}"
}
