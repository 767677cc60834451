import { Chat } from '@parley/chat';
import { ParleyClient } from '@parley/client';
import { watchActivity } from './activity.js';
import type { Services } from './context.js';
import { Drafts } from './drafts.js';
import { EmojiNames } from './emoji-names.js';
import { claimCache, IdbCache } from './idb-cache.js';
import { StoredOutbox } from './stored-outbox.js';
import { Uploads } from './uploads.js';

/** Services that all elements of a page share. */
export type SharedServices = Omit<Services, 'navigation'>;

interface OpenedServices extends SharedServices {
  /** Removes what this browser keeps of the person, on logging out. */
  forget(): Promise<void>;
}

/**
 * Opens the chat of the user who is logged in, and resolves once its state is there; null if nobody is. With the user's
 * id, this browser keeps the state and messages on their way for the next start.
 */
export async function openServices(
  baseUrl: string,
  credentials: 'host' | 'session',
  userId: number | null = null,
): Promise<OpenedServices | null> {
  const client = new ParleyClient({ url: baseUrl, credentials });
  const storageName = `${baseUrl}:${userId}`;
  const outbox = userId === null ? null : new StoredOutbox(`parley-outbox:${storageName}:`);
  const cache = userId !== null && (await claimCache(`parley ${storageName}`)) ? new IdbCache(baseUrl, userId) : null;
  const chat = new Chat({
    gateway: client,
    isActive: watchActivity(),
    ...(outbox && { outboxStorage: outbox }),
    ...(cache && { cache }),
  });
  void chat.run();
  if (!(await isLoggedIn(chat))) return null;
  const uploads = new Uploads(
    async (file, options) => (await client.post('/user_uploads', { filename: file }, options)).url,
    () => chat.state.fields.peek('max_file_upload_size_mib') ?? 0,
  );
  const drafts = new Drafts(baseUrl, chat.state.selfId);
  const forget = async () => {
    chat.stop();
    drafts.clear();
    outbox?.save([]);
    // The log-out must not depend on the database.
    await cache?.clear().catch(() => {});
  };
  return { chat, client, baseUrl, drafts, uploads, emoji: new EmojiNames(chat, baseUrl), forget };
}

function isLoggedIn(chat: Chat): Promise<boolean> {
  return new Promise((resolve) => {
    chat.isReady.subscribe((isReady) => isReady && resolve(true));
    chat.connection.subscribe(({ state }) => state === 'ended' && resolve(false));
  });
}
