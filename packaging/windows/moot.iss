; The Windows installer, for one user and without administrator's rights. After `dev.py build`, with Inno Setup 6.3:
;   iscc /DVersion=X.Y.Z packaging\windows\moot.iss
; Signed when the tool is named: iscc "/Ssigntool=signtool sign /fd SHA256 /tr URL /td SHA256 $f" /DSign …
#ifndef Version
  #error The version is missing: /DVersion=…, as pyproject.toml says
#endif

[Setup]
AppId={{5B0C7E0F-6B0D-4E0B-9C53-3E3D7F1B7A4E}
AppName=Moot
AppVersion={#Version}
AppPublisher=Moot contributors
LicenseFile=..\..\LICENSE
DefaultDirName={autopf}\Moot
DefaultGroupName=Moot
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
MinVersion=10.0.17763
OutputDir=..\..\build\dist
OutputBaseFilename=moot-{#Version}-windows-setup
SetupIconFile=..\..\build\bundle\icons\moot.ico
UninstallDisplayIcon={app}\moot.exe
Compression=lzma2/fast
SolidCompression=yes
WizardStyle=modern
CloseApplications=yes
#ifdef Sign
SignTool=signtool
#endif

[Languages]
Name: "en"; MessagesFile: "compiler:Default.isl"
Name: "ko"; MessagesFile: "compiler:Languages\Korean.isl"

[Tasks]
Name: "desktopicon"; Description: "{cm:CreateDesktopIcon}"; Flags: unchecked

[InstallDelete]
; What an earlier version left must not be loaded by this one.
Type: filesandordirs; Name: "{app}\_internal"

[Files]
Source: "..\..\build\dist\moot\*"; DestDir: "{app}"; Flags: recursesubdirs ignoreversion

[Icons]
Name: "{autoprograms}\Moot"; Filename: "{app}\moot.exe"
Name: "{autodesktop}\Moot"; Filename: "{app}\moot.exe"; Tasks: desktopicon

[Run]
Filename: "{app}\moot.exe"; Description: "{cm:LaunchProgram,Moot}"; Flags: nowait postinstall skipifsilent
