; The Windows installer, for one user and without an administrator's rights; build.sh gives this to makensis.
; Without questions: Moot-X-setup.exe /S [/D=FOLDER]. Exit status 2: nothing was changed, the program before still starts.
Target amd64-unicode
!ifdef FAST
  SetCompressor zlib
!else
  SetCompressor /SOLID lzma
  SetCompressorDictSize 128
!endif
; Also where /NCRC is given: a download that broke off must not be unpacked.
CRCCheck force
RequestExecutionLevel user
ManifestDPIAware true
ManifestSupportedOS Win10

!include FileFunc.nsh
!include LogicLib.nsh
!include MUI2.nsh
!include WinVer.nsh

!define KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\Moot"
; Windows 10, version 1809, which Qt needs.
!define OLDEST_BUILD 17763
; Half seconds that are waited after the programs were asked to end.
!define PATIENCE 40

Name "Moot"
OutFile "${OUT}"
InstallDir "$LOCALAPPDATA\Programs\Moot"
InstallDirRegKey HKCU "${KEY}" "InstallLocation"
BrandingText " "
VIProductVersion "${VERSION}.0"
VIAddVersionKey CompanyName "Moot contributors"
VIAddVersionKey FileDescription "Moot Setup"
VIAddVersionKey FileVersion "${VERSION}"
VIAddVersionKey LegalCopyright "MIT licence"
VIAddVersionKey ProductName "Moot"
VIAddVersionKey ProductVersion "${VERSION}"
!if "${SIGN}" != ""
  !uninstfinalize '${SIGN} "%1"'
!endif

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_COMPONENTSPAGE_NODESC
!define MUI_FINISHPAGE_RUN "$INSTDIR\Moot.exe"
!define MUI_UNCONFIRMPAGE_TEXT_TOP "$(stays)"
!insertmacro MUI_PAGE_COMPONENTS
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE English
!insertmacro MUI_LANGUAGE Korean

!macro Text NAME ENGLISH KOREAN
  LangString ${NAME} ${LANG_ENGLISH} "${ENGLISH}"
  LangString ${NAME} ${LANG_KOREAN} "${KOREAN}"
!macroend
!insertmacro Text icon "Desktop icon" "바탕 화면 아이콘"
!insertmacro Text command "The command moot in terminals" "터미널에서 moot 명령 사용"
!insertmacro Text old "Moot needs Windows 10, version 1809, or newer." "Moot를 쓰려면 Windows 10 버전 1809 이상이 필요해요."
!insertmacro Text close "Moot is running. Close it and go on? What it is doing is paused and kept." "Moot가 실행 중이에요. 종료하고 계속할까요? 하던 작업은 일시 정지되고 그대로 남아요."
!insertmacro Text runs "Moot is still running. Close it and the programs that use it, then try again." "Moot가 아직 실행 중이에요. Moot와 Moot를 쓰는 프로그램을 종료한 뒤 다시 시도하세요."
!insertmacro Text occupied "This folder holds other files. Choose an empty one." "이 폴더에 다른 파일이 있어요. 빈 폴더를 선택하세요."
!insertmacro Text unmoved "The files of Moot could not be replaced. The Moot that was here is kept. Close programs that use the folder, then try again." "Moot 파일을 바꾸지 못했어요. 원래 있던 Moot는 그대로예요. 이 폴더를 쓰는 프로그램을 종료한 뒤 다시 시도하세요."
!insertmacro Text stays "Moot will be removed. Your conversations and settings stay in $LOCALAPPDATA\Moot." "Moot를 제거해요. 대화와 설정은 $LOCALAPPDATA\Moot 폴더에 남아요."

; Whether files in the folder are this installer's own, so that they may be taken back and removed.
Var Begun
; Whether there was a program before.
Var Updates

; What the program consists of, all at the top of its folder.
!macro EachPart DO
  !insertmacro ${DO} Moot.exe
  !insertmacro ${DO} .model
  !insertmacro ${DO} app
  !insertmacro ${DO} bin
  !insertmacro ${DO} licences
  !insertmacro ${DO} packaging
  !insertmacro ${DO} python
  !insertmacro ${DO} resources
!macroend

!macro Remove PART
  Delete "$INSTDIR\${PART}"
  RMDir /r "$INSTDIR\${PART}"
!macroend

!macro MoveAway PART
  ${If} ${FileExists} "$INSTDIR\${PART}"
    Rename "$INSTDIR\${PART}" "$INSTDIR\moot-old\${PART}"
  ${EndIf}
!macroend

!macro MoveIn PART
  ${If} ${FileExists} "$INSTDIR\moot-new\${PART}"
    Rename "$INSTDIR\moot-new\${PART}" "$INSTDIR\${PART}"
  ${EndIf}
!macroend

!macro TakeBackMissing PART
  ${IfNot} ${FileExists} "$INSTDIR\${PART}"
  ${AndIf} ${FileExists} "$INSTDIR\moot-old\${PART}"
    Rename "$INSTDIR\moot-old\${PART}" "$INSTDIR\${PART}"
  ${EndIf}
!macroend

!macro TakeBack PART
  ${If} ${FileExists} "$INSTDIR\moot-old\${PART}"
    !insertmacro Remove ${PART}
    Rename "$INSTDIR\moot-old\${PART}" "$INSTDIR\${PART}"
  ${EndIf}
!macroend

; Every process of Moot runs one of its two programs, whose file can't be opened for writing then. `moot quit` closes
; the window, also one in the tray, and a Moot without one; what other programs have started is theirs to end.
!macro LookWhetherItRuns PROGRAM
  ${If} ${FileExists} "${PROGRAM}"
    ClearErrors
    FileOpen $0 "${PROGRAM}" a
    ${If} ${Errors}
      StrCpy $2 1
    ${Else}
      FileClose $0
    ${EndIf}
  ${EndIf}
!macroend

!macro MakeSureItIsClosed
  StrCpy $1 0
  ${Do}
    StrCpy $2 0
    !insertmacro LookWhetherItRuns "$INSTDIR\Moot.exe"
    !insertmacro LookWhetherItRuns "$INSTDIR\bin\moot.exe"
    ${If} $2 = 0
      ${Break}
    ${EndIf}
    ${If} $1 = 0
      ${If} ${Cmd} `MessageBox MB_OKCANCEL|MB_ICONQUESTION "$(close)" /SD IDOK IDCANCEL`
        Abort "$(runs)"
      ${EndIf}
      nsExec::Exec '"$INSTDIR\bin\moot.exe" quit'
      Pop $0
    ${ElseIf} $1 = ${PATIENCE}
      ${If} ${Cmd} `MessageBox MB_RETRYCANCEL|MB_ICONEXCLAMATION "$(runs)" /SD IDCANCEL IDCANCEL`
        Abort "$(runs)"
      ${EndIf}
      StrCpy $1 0
    ${EndIf}
    IntOp $1 $1 + 1
    Sleep 500
  ${Loop}
  ClearErrors
!macroend

Function .onInit
  ${IfNot} ${AtLeastBuild} ${OLDEST_BUILD}
    MessageBox MB_ICONSTOP "$(old)" /SD IDOK
    Abort
  ${EndIf}
FunctionEnd

; The disk is full, the user cancelled, or files could not be moved: the program before is put back.
Function .onInstFailed
  ${If} $Begun = 1
    SetOutPath "$TEMP"
    ${If} $Updates = 1
      !insertmacro EachPart TakeBack
    ${Else}
      !insertmacro EachPart Remove
    ${EndIf}
    RMDir /r "$INSTDIR\moot-new"
    RMDir "$INSTDIR\moot-old"
    RMDir "$INSTDIR"
  ${EndIf}
FunctionEnd

Section "Moot"
  SectionIn RO
  ${DirState} "$INSTDIR" $0
  ${If} ${FileExists} "$INSTDIR\Uninstall.exe"
    StrCpy $Updates 1
  ${ElseIf} $0 = 1
    MessageBox MB_ICONSTOP "$(occupied)" /SD IDOK
    Abort "$(occupied)"
  ${EndIf}
  !insertmacro MakeSureItIsClosed
  ; The computer may have lost its power while an earlier installation moved the files.
  !insertmacro EachPart TakeBackMissing
  RMDir /r "$INSTDIR\moot-old"
  RMDir /r "$INSTDIR\moot-new"
  ${If} ${FileExists} "$INSTDIR\moot-old"
  ${OrIf} ${FileExists} "$INSTDIR\moot-new"
    MessageBox MB_ICONSTOP "$(unmoved)" /SD IDOK
    Abort "$(unmoved)"
  ${EndIf}
  StrCpy $Begun 1
  ; Beside the program before, which stays whole until all files of this one are on the disk.
  SetOutPath "$INSTDIR\moot-new"
  ; Files of one kind together: they are packed by what is alike in those before them.
  !if /FileExists "${SOURCE}/.model/*.gguf"
    File /r "${SOURCE}/*.gguf"
  !endif
  File /r "${SOURCE}/*.dll"
  File /r "${SOURCE}/*.pyd"
  File /r /x *.gguf /x *.dll /x *.pyd "${SOURCE}/*"
  WriteUninstaller "$INSTDIR\moot-new\Uninstall.exe"
  ; A folder that is this process's own can't be moved.
  SetOutPath "$TEMP"
  !insertmacro MakeSureItIsClosed
  CreateDirectory "$INSTDIR\moot-old"
  ClearErrors
  !insertmacro EachPart MoveAway
  !insertmacro EachPart MoveIn
  ${If} ${Errors}
    MessageBox MB_ICONSTOP "$(unmoved)" /SD IDOK
    Abort "$(unmoved)"
  ${EndIf}
  StrCpy $Begun 0
  Delete "$INSTDIR\Uninstall.exe"
  !insertmacro MoveIn Uninstall.exe
  RMDir "$INSTDIR\moot-new"
  RMDir /r "$INSTDIR\moot-old"
  ; The working folder of the shortcuts.
  SetOutPath "$PROFILE"
  CreateShortcut "$SMPROGRAMS\Moot.lnk" "$INSTDIR\Moot.exe"
  WriteRegStr HKCU "${KEY}" "DisplayIcon" "$INSTDIR\Moot.exe"
  WriteRegStr HKCU "${KEY}" "DisplayName" "Moot"
  WriteRegStr HKCU "${KEY}" "DisplayVersion" "${VERSION}"
  WriteRegDWORD HKCU "${KEY}" "EstimatedSize" ${SIZE}
  WriteRegStr HKCU "${KEY}" "InstallLocation" "$INSTDIR"
  WriteRegDWORD HKCU "${KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${KEY}" "NoRepair" 1
  WriteRegStr HKCU "${KEY}" "Publisher" "Moot contributors"
  WriteRegStr HKCU "${KEY}" "QuietUninstallString" '"$INSTDIR\Uninstall.exe" /S'
  WriteRegStr HKCU "${KEY}" "UninstallString" '"$INSTDIR\Uninstall.exe"'
SectionEnd

Section "$(command)"
  nsExec::Exec '"$INSTDIR\bin\moot.exe" -m user_path add "$INSTDIR\bin"'
  Pop $0
SectionEnd

Section /o "$(icon)"
  CreateShortcut "$DESKTOP\Moot.lnk" "$INSTDIR\Moot.exe"
SectionEnd

Section Uninstall
  !insertmacro MakeSureItIsClosed
  nsExec::Exec '"$INSTDIR\bin\moot.exe" -m user_path remove "$INSTDIR\bin"'
  Pop $0
  SetOutPath "$TEMP"
  !insertmacro EachPart Remove
  RMDir /r "$INSTDIR\moot-new"
  RMDir /r "$INSTDIR\moot-old"
  Delete "$INSTDIR\Uninstall.exe"
  ; Only where nothing else is in it.
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\Moot.lnk"
  Delete "$DESKTOP\Moot.lnk"
  DeleteRegKey HKCU "${KEY}"
SectionEnd
