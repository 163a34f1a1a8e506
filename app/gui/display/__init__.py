"""How data is shown: theme and style (colours, fonts, icons), i18n (texts, dates, errors), amounts, and states."""
