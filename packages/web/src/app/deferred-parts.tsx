import { useEffect } from 'react';
import { Phone } from '../phone/phone.js';
import { electronBridge } from '../services/electron-bridge.js';
import { useLoaded } from '../services/loading.js';
import { NewVersionLine } from './new-version-line.js';
import { NotificationsLine } from './notifications-line.js';

const loadDesktopApp = () => import('./desktop-app.js').then(({ DesktopApp }) => DesktopApp);

/** Loads the code shared by menus and dialogs, which would otherwise load when the first of them opens. */
const loadOverlays = () => Promise.all([import('../kit/menu.js'), import('../kit/dialog.js')]);

interface Props {
  /** Missing if the host application manages log-ins. */
  readonly onLogOut: (() => void) | undefined;
}

/** Notices, gestures and the bridge to the desktop app, loaded after the first messages. */
export default function DeferredParts({ onLogOut }: Props) {
  useEffect(() => void loadOverlays().catch(() => {}), []);
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
