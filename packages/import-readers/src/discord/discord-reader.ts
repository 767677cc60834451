import type { ImportReader, ImportRecord, OpenImport } from '@parley/domain/imports';
import { type Archive, openArchive } from '../archive.js';
import { DiscordExport, headersOf } from './discord-export.js';

/** Files of JSON to look at; other exports can have many. */
const MAX_PEEKED_FILES = 20;

/** Reads JSON exports by DiscordChatExporter: a folder, or a packed one. */
export const DISCORD_READER: ImportReader = {
  name: 'discord',

  async recognizes(path) {
    const archive = await openArchive(path).catch(() => null);
    if (archive === null) return false;
    try {
      for await (const _ of headersOf(archive, MAX_PEEKED_FILES)) return true;
      return false;
    } catch {
      return false;
    } finally {
      await archive.close();
    }
  },

  async open(path): Promise<OpenImport> {
    const archive: Archive = await openArchive(path);
    return {
      records: (): AsyncIterable<ImportRecord> => new DiscordExport(archive).records(),
      sizeOf: async (name) => (archive.has(name) ? archive.sizeOf(name) : null),
      openFile: async (name) => (archive.has(name) ? archive.read(name) : null),
      close: () => archive.close(),
    };
  },
};
