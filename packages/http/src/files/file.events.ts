import type { FileEventTypes } from '@parley/domain/files';
import { form } from '../events/event-forms.js';
import { type Presenters, toAll } from '../events/event-presenter.js';
import * as wire from '../kernel/wire-schema.js';
import { attachment } from './file.answers.js';
import { presentFile } from './file.presenters.js';

const USED = { upload_space_used: wire.integer() };

/** Users §16. */
export const FILE_EVENTS = {
  'file.added': toAll(form('attachment', { op: wire.oneOf('add'), attachment, ...USED }), ({ file, usedBytes }) => ({
    op: 'add',
    attachment: presentFile(file),
    upload_space_used: usedBytes,
  })),
  'file.changed': toAll(
    form('attachment', { op: wire.oneOf('update'), attachment, ...USED }),
    ({ file, usedBytes }) => ({
      op: 'update',
      attachment: presentFile(file),
      upload_space_used: usedBytes,
    }),
  ),
  'file.removed': toAll(
    form('attachment', { op: wire.oneOf('remove'), attachment: wire.fields({ id: wire.integer() }), ...USED }),
    ({ id, usedBytes }) => ({
      op: 'remove',
      attachment: { id },
      upload_space_used: usedBytes,
    }),
  ),
} satisfies Presenters<keyof FileEventTypes>;
