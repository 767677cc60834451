import { useLingui } from '@lingui/react';
import { narrowOf } from '@parley/chat';
import { useEffect, useState } from 'react';
import { X } from '../icons/icons.js';
import { openHelp } from '../keyboard/commands.js';
import { IconButton } from '../kit/icon-button.js';
import { useComputed, useField, useServices } from '../services/context.js';
import type { ElectronBridge } from '../services/electron-bridge.js';
import { openOverlay } from '../services/overlay.js';
import { useReading } from '../services/use-reading.js';
import styles from './app.module.css';
import unreadIcon from './favicon-pms.svg';

interface Props {
  readonly bridge: ElectronBridge;
  readonly onLogOut: (() => void) | undefined;
}

/** File downloaded by the app. */
interface Download {
  readonly title: string;
  readonly description: string;
  readonly id: unknown;
}

/** Page inside Zulip's desktop app: reports counts and names to the app and handles its menu commands. */
export function DesktopApp({ bridge, onLogOut }: Props) {
  const { i18n } = useLingui();
  const [download, setDownload] = useState<Download | null>(null);
  useReports(bridge);
  useCommands(bridge, onLogOut, setDownload);
  if (download === null) return null;
  return (
    <output className={styles.question}>
      <span>
        {download.title}: {download.description}
      </span>
      <button type="button" onClick={() => bridge.send_event('show-downloaded-file-in-folder', download.id)}>
        {i18n._('Show in folder')}
      </button>
      <IconButton icon={X} label={i18n._('Close')} onClick={() => setDownload(null)} />
    </output>
  );
}

/** Reports unread counts and the organization's name and icon to the app. */
function useReports(bridge: ElectronBridge): void {
  const { chat, baseUrl } = useServices();
  const { count } = useReading(chat.sidebar.total);
  const hasDirect = useComputed(() => chat.sidebar.directs.value.some(({ unread }) => unread.count > 0), [chat]);
  const name = useField('realm_name');
  const icon = useField('realm_icon_url');
  useEffect(() => void bridge.send_event('total_unread_count', count), [bridge, count]);
  useEffect(() => void bridge.send_event('realm_name', name), [bridge, name]);
  useEffect(() => {
    // The app resolves relative addresses against the origin, which lacks the organization's path.
    if (icon !== undefined) bridge.send_event('realm_icon_url', new URL(icon.replace(/^\//, ''), baseUrl).href);
  }, [bridge, icon, baseUrl]);
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (!link || !hasDirect) return;
    const usual = link.href;
    // The app recognizes this file name and marks its dock icon.
    link.href = unreadIcon;
    return () => {
      link.href = usual;
    };
  }, [hasDirect]);
}

function useCommands(
  bridge: ElectronBridge,
  onLogOut: Props['onLogOut'],
  onDownload: (download: Download) => void,
): void {
  const { chat, navigation } = useServices();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the app's listeners cannot be removed.
  useEffect(() => {
    const main = () => document.querySelector('main')!;
    if (onLogOut) bridge.on_event('logout', onLogOut);
    bridge.on_event('show-keyboard-shortcuts', () => openHelp(main()));
    bridge.on_event('show-notification-settings', () =>
      openOverlay(main(), async () => {
        const { DeviceNotificationsDialog } = await import('../push/device-notifications.js');
        return <DeviceNotificationsDialog />;
      }),
    );
    bridge.on_event('show-download-success', (title, description, id) =>
      onDownload({ title: String(title), description: String(description), id }),
    );
    bridge.set_send_notification_reply_message_supported?.(true);
    bridge.on_event('send_notification_reply_message', (messageId, reply) => {
      const destination = chat.message(String(messageId)).peek()?.destination;
      if (!destination) return;
      chat.send(destination, String(reply));
      navigation.navigate(chat.formatAddress({ view: 'narrow', narrow: narrowOf(destination), near: null }));
    });
  }, [bridge]);
}
