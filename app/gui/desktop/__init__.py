"""The desktop around the window: notifications, the tray, settings, keys and the event loop."""
