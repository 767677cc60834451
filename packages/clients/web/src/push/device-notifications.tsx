import { useLingui } from '@lingui/react';
import { Dialog } from '../kit/dialog.js';
import overlays from '../kit/overlays.module.css';
import styles from './device-notifications.module.css';
import { useWebPush } from './use-web-push.js';

/** Notification settings of this browser. */
export function DeviceNotifications() {
  const { i18n } = useLingui();
  const { push, state, permission, turnOn } = useWebPush();
  if (permission === null) return <p>{i18n._('This browser cannot show notifications.')}</p>;
  if (permission === 'denied')
    return <p>{i18n._('This browser blocks notifications. Allow them in its settings for this site.')}</p>;
  if (permission === 'default')
    return (
      <button type="button" className={overlays.primary} onClick={() => void turnOn()}>
        {i18n._('Enable notifications')}
      </button>
    );
  return (
    <>
      <p>{i18n._('This browser shows notifications while the chat is open.')}</p>
      {push && (
        <label className={styles.switch}>
          <input
            type="checkbox"
            checked={state === 'on'}
            onChange={({ target }) => void (target.checked ? push.turnOn() : push.turnOff())}
          />
          {i18n._('Also notify me while the chat is closed')}
        </label>
      )}
      {state === 'failed' && (
        <p className={overlays.failure} role="alert">
          {i18n._('The push service of this browser cannot be reached.')}
        </p>
      )}
    </>
  );
}

/** Same settings in a dialog. */
export function DeviceNotificationsDialog() {
  const { i18n } = useLingui();
  return (
    <Dialog title={i18n._('Notifications on this device')}>
      <div className={styles.content}>
        <DeviceNotifications />
      </div>
    </Dialog>
  );
}
