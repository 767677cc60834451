import { archiveReader, plainFiles } from '../archive-reader.js';
import { DiscordExport, headersOf } from './discord-export.js';

/** Files of JSON to look at; other exports can have many. */
const MAX_PEEKED_FILES = 20;

/** Reads JSON exports by DiscordChatExporter. */
export const DISCORD_READER = archiveReader({
  name: 'discord',
  async recognizes(archive) {
    for await (const _ of headersOf(archive, MAX_PEEKED_FILES)) return true;
    return false;
  },
  files: plainFiles,
  records: (archive) => new DiscordExport(archive).records(),
});
