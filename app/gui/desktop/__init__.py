"""What the window shares with the desktop: notifications, the tray icon, the order of keys, its end,
and the event loop.

event_loop; application, which ends with the desktop; key_order keeps typed keys in order. Keys that work in
other programs: key_grab, with windows_keys and portal_keys (Wayland). notifications.py decides which are
shown, what they say, and sends them. session_bus is for both.
"""
