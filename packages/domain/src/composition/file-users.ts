import { exportsAsFileUser } from '../exports/realm-export.js';
import type { FileUser } from '../files/use-cases/sweep-files.js';
import { picturesAsFileUser } from '../pictures/use-cases/read-picture.js';
import { scheduledMessagesAsFileUser } from '../scheduling/scheduled-files.js';

/** Features that need files beside messages. */
export const FILE_USERS: readonly FileUser[] = [scheduledMessagesAsFileUser, picturesAsFileUser, exportsAsFileUser];
