import { createReadStream } from 'node:fs';
import type { ImportReader } from '@parley/domain/imports';
import { findFile, isExport, type OpenOptions, openExport, pathIn } from '@parley/export-files';
import { boundedRecords } from '../bounded-records.js';
import { ZulipExport } from './zulip-export.js';

/** Returns a reader of archives in Zulip's layout, by Zulip and Parley. */
export const zulipReader = (options: OpenOptions): ImportReader => ({
  name: 'zulip',
  recognizes: isExport,

  async open(path) {
    const opened = await openExport(path, options);
    const { root } = opened;
    const locate = (name: string) => pathIn(root, '.', name);
    return {
      records: () => boundedRecords(new ZulipExport(opened).records()),
      sizeOf: async (name) => (await findFile(root, locate(name)))?.size ?? null,
      openFile: async (name) => ((await findFile(root, locate(name))) ? createReadStream(locate(name)) : null),
      close: opened.close,
    };
  },
});
