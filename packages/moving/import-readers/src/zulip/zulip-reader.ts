import { createReadStream } from 'node:fs';
import { findFile, importLimits, isExport, type OpenOptions, openExport, pathIn } from '@parley/export-files';
import type { ImportReader } from '@parley/transfer/records';
import { boundedRecords } from '../bounded-records.js';
import { ZulipExport } from './zulip-export.js';

/** Returns a reader of archives in Zulip's layout, by Zulip and Parley. */
export const zulipReader = (options: Omit<OpenOptions, 'limits'>): ImportReader => ({
  name: 'zulip',
  recognizes: isExport,

  async open(path, maxUnpackedBytes) {
    const limits = await importLimits(options.temporaryFolder, maxUnpackedBytes);
    const opened = await openExport(path, { ...options, limits });
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
