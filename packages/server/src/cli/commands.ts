import type { Command } from './command.js';
import { CONFIG_COMMANDS } from './config.commands.js';
import { EXPORT_COMMANDS } from './export.commands.js';
import { FILE_COMMANDS } from './file.commands.js';
import { MAIL_COMMANDS } from './mail.commands.js';
import { MESSAGE_COMMANDS } from './message.commands.js';
import { REALM_COMMANDS } from './realm.commands.js';
import { SERVE_COMMAND } from './serve.command.js';
import { STORAGE_COMMANDS } from './storage.commands.js';
import { USER_COMMANDS } from './user.commands.js';

/** In the order of the help. */
export const COMMANDS: readonly Command[] = [
  SERVE_COMMAND,
  ...REALM_COMMANDS,
  ...USER_COMMANDS,
  ...MESSAGE_COMMANDS,
  ...EXPORT_COMMANDS,
  ...FILE_COMMANDS,
  ...MAIL_COMMANDS,
  ...STORAGE_COMMANDS,
  ...CONFIG_COMMANDS,
];
