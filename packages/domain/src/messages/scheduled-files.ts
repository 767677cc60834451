import type { FileUser } from '../files/use-cases/sweep-files.js';
import { MAX_SCHEDULED_MESSAGES } from './scheduled-message.js';

/** Files that somebody's scheduled messages link to are still needed (users §20). */
export const SCHEDULED_FILES: FileUser = {
  needsFile: async ({ scheduledMessages }, { realmId, ownerId, pathId }) => {
    const waiting = await scheduledMessages.listUnsent(realmId, ownerId, MAX_SCHEDULED_MESSAGES);
    return waiting.some(({ content }) => content.includes(pathId) || content.includes(encodeURI(pathId)));
  },
};
