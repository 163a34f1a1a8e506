"""What the window shares with the desktop: notifications, the tray icon, the order of keys, and the event loop.

Notifications: notifications.py decides which are shown and what they say; notification_bus.py sends them.
"""
