"""Files the user chooses: attachments and context files are read, exports written as PDF, definitions shared."""
