import { GetBotStorage, PutBotStorage, RemoveBotStorage, type StoredEntry } from '@parley/domain/membership';
import { MAX_IDS, MAX_JSON_LENGTH, MAX_TEXT_LENGTH } from '../kernel/limits.js';
import { recordOf, text } from '../kernel/param-types.js';
import { param, TextListParam } from '../kernel/params.js';
import { WireText } from '../kernel/reply.js';
import { type Route, route } from '../kernel/route.js';
import { TextChunks } from '../kernel/text-chunks.js';
import { Turns } from '../kernel/turns.js';
import * as wire from '../kernel/wire-schema.js';

const KEYS = { max: MAX_IDS, each: { max: MAX_TEXT_LENGTH }, optional: true };

class StoredKeysDto {
  @TextListParam(KEYS) keys?: string[];
}

class PutBotStorageDto {
  @param(recordOf(text({ max: MAX_JSON_LENGTH }), { max: MAX_IDS, maxKeyLength: MAX_TEXT_LENGTH }))
  storage!: Record<string, string>;
}

export function botStorageRoutes(): readonly Route[] {
  const turns = new Turns();
  const toInput = ({ keys = null }: { keys?: string[] | null }) => ({ keys });
  return [
    route('GET', '/bot_storage', {
      auth: 'user',
      roleRequirements: ['bot'],
      isExpensive: true,
      dto: StoredKeysDto,
      useCase: GetBotStorage,
      toInput,
      answer: wire.fields({ storage: wire.dictionaryOf(wire.text()) }),
      present: async (entries) => new WireText(await turns.runSteps(writeStorage(entries))),
    }),
    route('PUT', '/bot_storage', {
      auth: 'user',
      roleRequirements: ['bot'],
      dto: PutBotStorageDto,
      useCase: PutBotStorage,
      toInput: ({ storage }) => ({ entries: Object.entries(storage).map(([key, value]) => ({ key, value })) }),
    }),
    route('DELETE', '/bot_storage', {
      auth: 'user',
      roleRequirements: ['bot'],
      dto: StoredKeysDto,
      useCase: RemoveBotStorage,
      toInput,
    }),
  ];
}

/** Millions of characters at most: written one by one. */
function* writeStorage(entries: readonly StoredEntry[]): Generator<void, readonly string[]> {
  const chunks = new TextChunks();
  chunks.add('"storage":{');
  let separator = '';
  for (const { key, value } of entries) {
    chunks.add(`${separator}${JSON.stringify(key)}:${JSON.stringify(value)}`);
    separator = ',';
    yield;
  }
  chunks.add('}');
  return chunks.finish();
}
