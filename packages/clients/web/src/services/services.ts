import { Chat, type Destination } from '@parley/chat';
import type { ParleyClient } from '@parley/client';
import { Activity } from './activity.js';
import { BrowserTabs, hasLocks } from './browser-tabs.js';
import type { Services } from './context.js';
import type { DraftSync } from './draft-sync.js';
import { Drafts } from './drafts.js';
import { FieldTexts } from './field-texts.js';
import { IdbCache } from './idb-cache.js';
import { loadLater } from './loading.js';
import type { PassedTokens } from './passed-tokens.js';
import { store, storedKeys } from './storage.js';
import { StoredOutbox } from './stored-outbox.js';

/** Services shared by all elements of a page. */
export type SharedServices = Omit<Services, 'navigation'>;

export interface OpenedServices extends SharedServices {
  /** Removes the person's data from this browser on logout. */
  forget(): Promise<void>;
  /** Ends calls and listeners; unsent messages wait for the next start. */
  close(): void;
}

export interface StartedServices extends OpenedServices {
  /** Resolves once the state is loaded, or to false if the user is no longer logged in. */
  readonly isLoggedIn: Promise<boolean>;
}

interface Start {
  readonly client: ParleyClient;
  /** URL of the organization, with a trailing slash. */
  readonly baseUrl: string;
  readonly userId: number;
  /** Pages of the same kind share a connection. Embedded elements show no notifications. */
  readonly kind: 'application' | 'element';
  /** Resolves when messages that need no state are visible. */
  readonly isDrawn?: Promise<void> | undefined;
  /** True without an account: nothing is stored, reported or shared with other tabs. */
  readonly isVisitor?: boolean;
  readonly tokens?: PassedTokens | undefined;
}

/** Opens a user's chat and resolves once its state is loaded; null if the user is no longer logged in. */
export async function openServices(start: Start): Promise<OpenedServices | null> {
  const services = await startServices(start);
  if (await services.isLoggedIn) return services;
  services.close();
  return null;
}

/** Opens a user's chat, which can show messages before its state is loaded. */
export async function startServices({
  client,
  baseUrl,
  userId,
  kind,
  isDrawn,
  isVisitor = false,
  tokens,
}: Start): Promise<StartedServices> {
  const storageName = `${baseUrl}:${userId}${tokens?.scope ?? ''}`;
  const outbox = new StoredOutbox(`parley-outbox:${storageName}:`);
  // Opens the database in parallel with the lock request.
  const ownCache = isVisitor || kind !== 'application' ? null : new IdbCache(baseUrl, userId, isDrawn);
  const tabs = isVisitor ? null : await BrowserTabs.open(`parley ${kind} ${storageName}`);
  // Only the leading tab writes the state.
  const cache = tabs && ownCache;
  const activity = new Activity();
  const chat = new Chat({
    gateway: client,
    isVisitor,
    ...(!isVisitor && { userId, isActive: () => activity.isActive() }),
    outboxStorage: outbox,
    ...(tabs && { tabs }),
    ...(cache && { cache }),
  });
  const close = () => {
    chat.stop();
    activity.stop();
  };
  void chat.run();
  const isLoggedIn = loggedIn(chat);
  const uploads = { storageKey: `parley-upload ${storageName}` };
  const drafts = new Drafts({
    storageKey: `parley-drafts:${storageName}`,
    selfId: userId,
    onServer: () => chat.field('drafts') ?? [],
  });
  const fieldTexts = new FieldTexts(`parley-fields:${storageName}`);
  const endFollowing = [drafts.followWindows(), fieldTexts.followWindows()];
  const sync = isLoggedIn.then(() => loadDraftSync(drafts, chat, client, `parley drafts ${storageName}`));
  const forget = async () => {
    // Unsent messages become drafts, so that the user can send them in a later session.
    for (const { delivery, destination, content } of chat.outbox.messages.values()) {
      if (delivery !== 'sending') drafts.add(destination, content);
    }
    drafts.saveFields();
    const edits = keepEdits(chat, fieldTexts, drafts);
    // Saves texts on the server, unless that takes too long.
    const isKept = Promise.all([sync, ...edits]).then(([it]) => it.flush());
    await Promise.race([isKept, new Promise((resolve) => setTimeout(resolve, 2000))]);
    void sync.then((it) => it.stop());
    chat.leave();
    chat.stop();
    activity.stop();
    drafts.clear();
    fieldTexts.clear();
    outbox.clear();
    for (const key of storedKeys(`tus::${uploads.storageKey}`)) store(key, null);
    // The logout must not depend on the database.
    await cache?.clear().catch(() => {});
  };
  const closeAll = () => {
    close();
    for (const end of endFollowing) end();
    void sync.then((it) => it.stop());
  };
  const shared = { chat, client, baseUrl, drafts, uploads, fieldTexts, tokens };
  return { ...shared, forget, close: closeAll, isLoggedIn };
}

/** Turns unsaved edits of messages into drafts of their conversations, and other ones into notes to oneself. */
function keepEdits(chat: Chat, fieldTexts: FieldTexts, drafts: Drafts): readonly Promise<void>[] {
  return [...fieldTexts.texts.peek()].map(async ([field, { text, base }]) => {
    const [, kind, id] = /^(edit|scheduled) (\d+)$/.exec(field) ?? [];
    if (!kind || text === base) return;
    const own: Destination = { kind: 'direct', userIds: [] };
    drafts.add(kind === 'edit' ? await chat.commands.destination(Number(id)).catch(() => own) : own, text);
  });
}

function loggedIn(chat: Chat): Promise<boolean> {
  return new Promise((resolve) => {
    chat.isReady.subscribe((isReady) => isReady && resolve(true));
    chat.connection.subscribe(({ state }) => state === 'ended' && resolve(false));
  });
}

/** Starts draft synchronization once its code is loaded; until then drafts stay in this browser. */
async function loadDraftSync(drafts: Drafts, chat: Chat, client: ParleyClient, lock: string): Promise<DraftSync> {
  const { DraftSync } = await loadLater(() => import('./draft-sync.js'));
  // Without browser locks, equal drafts of two windows are merged.
  const canLock = await hasLocks();
  const alone = async (task: () => Promise<void>): Promise<void> =>
    canLock ? void (await navigator.locks.request(lock, task)) : task();
  const sync = new DraftSync(drafts, chat, client, alone);
  sync.start();
  return sync;
}
