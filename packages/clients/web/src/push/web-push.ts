import { signal } from '@preact/signals-core';
import type { Services } from '../services/context.js';
import { electronBridge } from '../services/electron-bridge.js';
import { readStored, store } from '../services/storage.js';
import type { PageQuestion } from './service-worker.js';
import { registerWorker, removeFormerWorker, workerOf } from './worker.js';

/** `unasked`: the user has not chosen yet. `failed`: the browser's push service is unreachable. */
export type WebPushState = 'unasked' | 'off' | 'on' | 'failed';

/** Logout must not wait for an unreachable push service. */
const MAX_END_MS = 3000;

let opening: Promise<WebPush | null> | null = null;

/** Returns null if the browser or the server does not support web push. */
export function openWebPush(services: Services): Promise<WebPush | null> {
  opening ??= open(services).catch((error) => {
    opening = null;
    throw error;
  });
  return opening;
}

/** Ends the user's notifications on logout. */
export async function endWebPush(): Promise<void> {
  const ended = opening?.then((push) => push?.end());
  const isLate = new Promise((resolve) => setTimeout(resolve, MAX_END_MS));
  // The server removes a subscription that the browser has ended; logging out does not wait for more.
  await Promise.race([ended?.catch(() => {}), isLate]);
}

async function open(services: Services): Promise<WebPush | null> {
  // Zulip's desktop app has no push service.
  if (electronBridge || !('PushManager' in globalThis) || !navigator.serviceWorker) return null;
  const { vapid_public_key: key, endpoints } = await services.client.get('/web_push/subscriptions');
  if (key === null) return null;
  const push = new WebPush(services, key);
  await push.restore(endpoints);
  return push;
}

/** Notifications of this browser while no chat page is open (extensions §5). */
export class WebPush {
  readonly state = signal<WebPushState>('off');
  private readonly storageKey: string;

  constructor(
    private readonly services: Services,
    /** Public key of the server. */
    private readonly key: string,
  ) {
    const { baseUrl, chat } = services;
    this.storageKey = `parley-web-push:${baseUrl}:${chat.state.selfId}`;
    navigator.serviceWorker.addEventListener('message', ({ data, ports: [port] }) => {
      port?.postMessage(this.deals(data as PageQuestion));
    });
    navigator.serviceWorker.startMessages();
  }

  /** Resubscribes if notifications are on but the browser's subscription belongs to another user or key. */
  async restore(endpoints: readonly string[]): Promise<void> {
    await removeFormerWorker(this.services.baseUrl);
    const wish = this.wish;
    if (wish === 'on' && Notification.permission === 'granted') return this.subscribe(endpoints);
    this.state.value = wish === 'on' ? 'off' : wish;
    await (await this.subscription())?.unsubscribe();
  }

  /** Subscribes this browser, which must have granted permission. */
  async turnOn(): Promise<void> {
    this.wish = 'on';
    await this.subscribe([]);
  }

  async turnOff(): Promise<void> {
    this.wish = 'off';
    this.state.value = 'off';
    await this.end();
  }

  /** Ends the subscription and closes its notifications. */
  async end(): Promise<void> {
    const registration = await this.registration();
    for (const notification of (await registration?.getNotifications()) ?? []) notification.close();
    const subscription = await this.subscription();
    if (!subscription) return;
    const { endpoint } = subscription;
    // The server may have ended it already.
    await this.services.client.delete('/web_push/subscriptions', { endpoint }).catch(() => {});
    await subscription.unsubscribe();
  }

  private async subscribe(endpoints: readonly string[]): Promise<void> {
    try {
      const registration = await registerWorker(this.services.baseUrl);
      let subscription = await registration.pushManager.getSubscription();
      if (subscription && !(endpoints.includes(subscription.endpoint) && this.hasKey(subscription))) {
        await subscription.unsubscribe();
        subscription = null;
      }
      subscription ??= await registration.pushManager.subscribe({
        userVisibleOnly: true,
        applicationServerKey: this.key,
      });
      const { endpoint, keys } = subscription.toJSON();
      const { p256dh, auth } = keys as { p256dh: string; auth: string };
      await this.services.client.post('/web_push/subscriptions', { endpoint: endpoint!, p256dh, auth });
      this.state.value = 'on';
    } catch {
      this.state.value = 'failed';
    }
  }

  /** Returns the page's service worker; null until it is registered. */
  registration(): Promise<ServiceWorkerRegistration | null> {
    return workerOf(this.services.baseUrl);
  }

  private async subscription(): Promise<PushSubscription | null> {
    return (await (await this.registration())?.pushManager.getSubscription()) ?? null;
  }

  private hasKey({ options: { applicationServerKey: key } }: PushSubscription): boolean {
    if (!key) return false;
    const base64 = btoa(String.fromCharCode(...new Uint8Array(key)));
    return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '') === this.key;
  }

  /** A focused page shows notifications itself while it receives events. */
  private deals(question: PageQuestion): boolean {
    const { chat, navigation } = this.services;
    const state = chat.connection.peek().state;
    if (question.userId !== chat.state.selfId || state === 'ended') return false;
    if (question.kind === 'push') return state === 'online' && document.hasFocus();
    navigation.navigate(question.hash);
    return true;
  }

  /** The user's choice in this browser. */
  private get wish(): 'unasked' | 'off' | 'on' {
    const wish = readStored(this.storageKey);
    return wish === 'on' || wish === 'off' ? wish : 'unasked';
  }

  private set wish(wish: 'off' | 'on') {
    store(this.storageKey, wish);
  }
}
