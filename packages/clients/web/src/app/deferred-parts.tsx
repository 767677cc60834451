import { Phone } from '../phone/phone.js';
import { electronBridge } from '../services/electron-bridge.js';
import { useLoaded } from '../services/loading.js';
import { useEmptyTopicName } from './empty-topic-name.js';
import { NewVersionLine } from './new-version-line.js';
import { NotificationsLine } from './notifications-line.js';

const loadDesktopApp = () => import('./desktop-app.js').then(({ DesktopApp }) => DesktopApp);

interface Props {
  /** Missing if the host application manages log-ins. */
  readonly onLogOut: (() => void) | undefined;
}

/** Notices, gestures and the bridge to the desktop app, loaded after the first messages. */
export default function DeferredParts({ onLogOut }: Props) {
  useEmptyTopicName();
  const DesktopApp = useLoaded(loadDesktopApp, electronBridge !== null);
  return (
    <>
      <NotificationsLine />
      <NewVersionLine />
      <Phone />
      {DesktopApp && electronBridge && <DesktopApp bridge={electronBridge} onLogOut={onLogOut} />}
    </>
  );
}
