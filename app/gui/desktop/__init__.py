"""What the window shares with the desktop: notifications, the tray icon, the order of keys, and the event loop.

event_loop; key_order keeps typed keys in order. Keys that work in other programs: key_grab, with windows_keys and
portal_keys (Wayland). Notifications: notifications.py decides which are shown and what they say; notification_bus.py
sends them.
"""
