import { exportsAsFileUser } from '../exports/index.js';
import type { FileUser } from '../files/index.js';
import { picturesAsFileUser } from '../pictures/index.js';
import { scheduledMessagesAsFileUser } from '../scheduling/index.js';

/** Features that need files beside messages. */
export const FILE_USERS: readonly FileUser[] = [scheduledMessagesAsFileUser, picturesAsFileUser, exportsAsFileUser];
