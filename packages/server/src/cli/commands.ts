import { AUDIT_COMMANDS } from './audit.commands.js';
import { CLUSTER_COMMANDS } from './cluster.commands.js';
import type { Command } from './command.js';
import { DIRECTORY_COMMANDS } from './directory.commands.js';
import { ERASURE_COMMANDS } from './erasure.commands.js';
import { EXPORT_COMMANDS } from './export.commands.js';
import { HOLD_COMMANDS } from './hold.commands.js';
import { IMPORT_COMMANDS } from './import.commands.js';
import { LOG_IN_COMMANDS } from './log-in.commands.js';
import { FILE_COMMANDS, MESSAGE_COMMANDS } from './message.commands.js';
import { PUSH_COMMANDS } from './push.commands.js';
import { REALM_COMMANDS } from './realm.commands.js';
import { CONFIG_COMMANDS, MAIL_COMMANDS, SERVE_COMMAND } from './server.commands.js';
import { STORAGE_COMMANDS } from './storage.commands.js';
import { USER_COMMANDS } from './user.commands.js';

/** In help order. */
export const COMMANDS: readonly Command[] = [
  SERVE_COMMAND,
  ...REALM_COMMANDS,
  ...USER_COMMANDS,
  ...ERASURE_COMMANDS,
  ...HOLD_COMMANDS,
  ...DIRECTORY_COMMANDS,
  ...LOG_IN_COMMANDS,
  ...AUDIT_COMMANDS,
  ...MESSAGE_COMMANDS,
  ...EXPORT_COMMANDS,
  ...IMPORT_COMMANDS,
  ...FILE_COMMANDS,
  ...MAIL_COMMANDS,
  ...PUSH_COMMANDS,
  ...STORAGE_COMMANDS,
  ...CLUSTER_COMMANDS,
  ...CONFIG_COMMANDS,
];
