/** Interface of Zulip's desktop app for the page of an organization. */
export interface ElectronBridge {
  send_event(name: string, ...details: readonly unknown[]): boolean;
  on_event(name: string, listener: (...details: readonly unknown[]) => void): void;
  new_notification?(
    title: string,
    options: NotificationOptions,
    dispatch: (type: string, init: EventInit) => boolean,
  ): { close(): void };
  get_idle_on_system?(): boolean;
  /** Unix milliseconds. */
  get_last_active_on_system?(): number;
  set_send_notification_reply_message_supported?(isSupported: boolean): void;
}

const { electron_bridge: given } = globalThis as { readonly electron_bridge?: unknown };

/** Null in browsers. An element with this name as its id does not count. */
export const electronBridge = given instanceof Element ? null : ((given as ElectronBridge | null | undefined) ?? null);

/** Notification shown by the app. */
export class DesktopNotification {
  onclick: (() => void) | null = null;
  onclose: (() => void) | null = null;
  readonly close: () => void;

  constructor(show: NonNullable<ElectronBridge['new_notification']>, title: string, options: NotificationOptions) {
    const { close } = show(title, options, (type) => {
      if (type === 'click') this.onclick?.();
      if (type === 'close') this.onclose?.();
      return true;
    });
    this.close = close;
  }
}
