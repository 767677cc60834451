import { useLingui } from '@lingui/react';
import { useState } from 'react';
import { Trash2 } from '../icons/icons.js';
import { Dialog, FailureText } from '../kit/dialog.js';
import { IconButton } from '../kit/icon-button.js';
import overlays from '../kit/overlays.module.css';
import { useAddress, useField, useServices } from '../services/context.js';
import type { Refusal } from '../services/reasons.js';
import { useViews } from './views.js';
import styles from './views-dialog.module.css';

/** Maximum name length (users §19). */
const MAX_NAME_LENGTH = 200;

/** Chooses the views in the sidebar, and adds pages as named views. */
export function ViewsDialog() {
  const { i18n } = useLingui();
  const { client } = useServices();
  const { hash } = useAddress();
  const views = useViews();
  const pins = useField('navigation_views') ?? [];
  const [name, setName] = useState('');
  const [saving, setSaving] = useState<readonly string[]>([]);
  const [failure, setFailure] = useState<Refusal | null>(null);
  const save = async (fragment: string, call: () => Promise<unknown>) => {
    if (saving.includes(fragment)) return;
    setSaving((others) => [...others, fragment]);
    setFailure(null);
    try {
      await call();
    } catch (error) {
      setFailure(error as Refusal);
    }
    setSaving((all) => all.filter((each) => each !== fragment));
  };
  const isKnown = (fragment: string) => pins.some((pin) => pin.fragment === fragment);
  const show = (fragment: string, is_pinned: boolean) =>
    save(fragment, () =>
      isKnown(fragment)
        ? client.patch('/navigation_views/{fragment}', { fragment, is_pinned })
        : client.post('/navigation_views', { fragment, is_pinned }),
    );
  const page = hash.slice(1);
  const canAdd = hash.startsWith('#') && views.every(({ href }) => href !== hash);
  return (
    <Dialog title={i18n._('Views in the sidebar')}>
      <div className={overlays.form}>
        <ul className={styles.views}>
          {views.map(({ fragment, label, isShown }) => (
            <li key={fragment} className={styles.view}>
              <label className={overlays.option}>
                <input
                  type="checkbox"
                  checked={isShown}
                  aria-disabled={saving.includes(fragment)}
                  onChange={({ target }) => void show(fragment, target.checked)}
                />
                {label}
              </label>
              {pins.some((pin) => pin.fragment === fragment && pin.name !== null) && (
                <IconButton
                  icon={Trash2}
                  label={i18n._('Delete the view {name}', { name: label })}
                  onClick={() => void save(fragment, () => client.delete('/navigation_views/{fragment}', { fragment }))}
                />
              )}
            </li>
          ))}
        </ul>
        {canAdd && (
          <form
            className={styles.add}
            onSubmit={(event) => {
              event.preventDefault();
              void save(page, async () => {
                await client.post('/navigation_views', { fragment: page, is_pinned: true, name: name.trim() });
                setName('');
              });
            }}
          >
            <label className={overlays.field}>
              {i18n._('Add the current page under a name')}
              <input maxLength={MAX_NAME_LENGTH} value={name} onChange={({ target }) => setName(target.value)} />
            </label>
            <button type="submit" className={overlays.button} disabled={saving.includes(page) || name.trim() === ''}>
              {i18n._('Add')}
            </button>
          </form>
        )}
        <FailureText failure={failure} />
      </div>
    </Dialog>
  );
}
