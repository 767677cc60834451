import type { FileEventTypes } from '@parley/domain/files';
import { type Presenters, toAll } from '../events/event-presenter.js';
import { presentFile } from './file.presenters.js';

/** Users §16. */
export const FILE_EVENTS = {
  'file.added': toAll('attachment', ({ file, usedBytes }) => ({
    op: 'add',
    attachment: presentFile(file),
    upload_space_used: usedBytes,
  })),
  'file.changed': toAll('attachment', ({ file, usedBytes }) => ({
    op: 'update',
    attachment: presentFile(file),
    upload_space_used: usedBytes,
  })),
  'file.removed': toAll('attachment', ({ id, usedBytes }) => ({
    op: 'remove',
    attachment: { id },
    upload_space_used: usedBytes,
  })),
} satisfies Presenters<keyof FileEventTypes>;
