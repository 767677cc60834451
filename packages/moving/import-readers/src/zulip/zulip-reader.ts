import { createReadStream } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { findFile, isExport, type OpenOptions, openExport, pathIn, UNPACK_LIMITS } from '@parley/export-files';
import type { ImportReader } from '@parley/transfer/records';
import { boundedRecords } from '../bounded-records.js';
import { ZulipExport } from './zulip-export.js';

/** Returns a reader of archives in Zulip's layout, by Zulip and Parley. */
export const zulipReader = (options: Omit<OpenOptions, 'limits'>): ImportReader => ({
  name: 'zulip',
  recognizes: isExport,

  async open(path) {
    const { bavail, bsize } = await statfs(options.temporaryFolder);
    // The import stores most of the unpacked bytes a second time, and owners can upload archives.
    const limits = { ...UNPACK_LIMITS, minFreeBytes: Math.max(UNPACK_LIMITS.minFreeBytes, (bavail * bsize) / 2) };
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
