import { Chat } from '@parley/chat';
import { ParleyClient } from '@parley/client';
import { watchActivity } from './activity.js';
import type { Services } from './context.js';
import { Drafts } from './drafts.js';
import { EmojiNames } from './emoji-names.js';
import { Uploads } from './uploads.js';

/** Services that all elements of a page share. */
export type SharedServices = Omit<Services, 'navigation'>;

/** Opens the chat of the user who is logged in, and resolves once its state is there; null if nobody is. */
export async function openServices(baseUrl: string, credentials: 'host' | 'session'): Promise<SharedServices | null> {
  const client = new ParleyClient({ url: baseUrl, credentials });
  const chat = new Chat({ gateway: client, isActive: watchActivity() });
  void chat.run();
  if (!(await isLoggedIn(chat))) return null;
  const uploads = new Uploads(
    async (file, options) => (await client.post('/user_uploads', { filename: file }, options)).url,
    () => chat.state.fields.peek('max_file_upload_size_mib') ?? 0,
  );
  const drafts = new Drafts(baseUrl, chat.state.selfId);
  return { chat, client, baseUrl, drafts, uploads, emoji: new EmojiNames(chat, baseUrl) };
}

function isLoggedIn(chat: Chat): Promise<boolean> {
  return new Promise((resolve) => {
    chat.isReady.subscribe((isReady) => isReady && resolve(true));
    chat.connection.subscribe(({ state }) => state === 'ended' && resolve(false));
  });
}
