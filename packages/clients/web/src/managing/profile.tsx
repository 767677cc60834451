import { useLingui } from '@lingui/react';
import type { SettingsSource } from '@parley/chat';
import { ParleyError, type ProfileField } from '@parley/client';
import { useMemo, useRef, useState } from 'react';
import { Avatar } from '../kit/avatar.js';
import { FailureText } from '../kit/dialog.js';
import overlays from '../kit/overlays.module.css';
import { openPersonCard } from '../people/open-card.js';
import { useChat, useComputed, useField } from '../services/context.js';
import type { Refusal } from '../services/reasons.js';
import { useManagement } from '../services/use-management.js';
import { useReading } from '../services/use-reading.js';
import type { Option, Setting } from './fields.js';
import { Section } from './form.js';
import styles from './managing.module.css';

/** User data visible to others. */
export function Profile() {
  const { i18n } = useLingui();
  const { state } = useChat();
  const management = useManagement();
  const account = useMemo<SettingsSource>(
    () => ({
      key: 'account',
      read: (name) =>
        name === 'timezone' ? state.fields.get('user_settings')?.timezone : state.fields.get(name as 'full_name'),
      save: (changes) => management.api.patch('/settings', changes),
      mayEdit: (name) =>
        name !== 'full_name' ||
        management.rights.isAdmin ||
        (state.fields.get('realm_name_changes_disabled') !== true &&
          state.fields.get('server_name_changes_disabled') !== true),
    }),
    [management, state],
  );
  const isWithoutZone = useField('user_settings')?.timezone === '';
  const zones = useMemo<readonly Option[]>(
    () =>
      // The server rejects the removal of a chosen time zone.
      [
        ...(isWithoutZone ? [''] : []),
        'UTC',
        ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC'),
      ].map((zone) => ({
        value: zone,
        label: zone === '' ? i18n._('None') : zone.replaceAll('_', ' '),
      })),
    [i18n, isWithoutZone],
  );
  return (
    <>
      <Picture />
      <Section
        source={account}
        settings={[
          { name: 'full_name', label: i18n._('Name'), kind: 'text', maxLength: 100, autoComplete: 'name' },
          { name: 'timezone', label: i18n._('Time zone'), kind: 'choice', options: zones },
        ]}
      />
      <ProfileFields userId={state.selfId} />
      <section className={styles.section}>
        <button
          type="button"
          className={overlays.button}
          aria-haspopup="dialog"
          onClick={({ currentTarget }) => openPersonCard(currentTarget, state.selfId)}
        >
          {i18n._('See my profile')}
        </button>
      </section>
    </>
  );
}

function Picture() {
  const { i18n } = useLingui();
  const chat = useChat();
  const management = useManagement();
  const self = useReading(chat.people.person(chat.state.selfId));
  const source = useField('avatar_source');
  const mayChange = useComputed(
    () =>
      management.rights.isAdmin ||
      (chat.field('realm_avatar_changes_disabled') !== true && chat.field('server_avatar_changes_disabled') !== true),
    [chat, management],
  );
  return (
    <ImageSection
      title={i18n._('Picture')}
      preview={<Avatar key={self.avatarUrl} url={self.avatarUrl} name={self.name} size={72} />}
      isOwn={source === 'U'}
      isDisabled={!mayChange}
      maxMebibytes={useField('max_avatar_file_size_mib')}
      onChoose={(filename) => management.api.post('/users/me/avatar', { filename })}
      onRemove={() => management.api.delete('/users/me/avatar', {})}
    />
  );
}

interface ImageProps {
  readonly title: string;
  readonly preview: React.ReactNode;
  /** True if there is a picture to remove. */
  readonly isOwn: boolean;
  readonly isDisabled: boolean;
  readonly maxMebibytes: number | undefined;
  onChoose(file: File): Promise<unknown>;
  onRemove(): Promise<unknown>;
}

const BYTES_PER_MIB = 1024 * 1024;

/** Picture with buttons to replace and remove it. */
export function ImageSection({
  title,
  preview,
  isOwn,
  isDisabled,
  maxMebibytes = Infinity,
  onChoose,
  onRemove,
}: ImageProps) {
  const { i18n } = useLingui();
  const input = useRef<HTMLInputElement>(null);
  const [isWorking, setWorking] = useState(false);
  const [failure, setFailure] = useState<Refusal | null>(null);
  const run = async (call: Promise<unknown>) => {
    setWorking(true);
    setFailure(null);
    await call.catch(setFailure);
    setWorking(false);
  };
  const choose = async (file: File) => {
    // The server has no specific error code for this.
    if (file.size > maxMebibytes * BYTES_PER_MIB)
      throw new ParleyError('The file is too large', 'FILE_TOO_LARGE', 0, { max: maxMebibytes });
    await onChoose(file);
  };
  return (
    <section className={styles.section}>
      <h3>{title}</h3>
      <div className={styles.picture}>
        {preview}
        {!isDisabled && (
          <span className={styles.rowButtons}>
            <button
              type="button"
              className={overlays.button}
              disabled={isWorking}
              onClick={() => input.current?.click()}
            >
              {i18n._('Upload')}
            </button>
            {isOwn && (
              <button
                type="button"
                className={overlays.button}
                disabled={isWorking}
                onClick={() => void run(onRemove())}
              >
                {i18n._('Remove')}
              </button>
            )}
          </span>
        )}
        <input
          ref={input}
          type="file"
          accept="image/*"
          hidden
          aria-label={title}
          onChange={({ target }) => {
            const file = target.files?.[0];
            if (file) void run(choose(file));
            target.value = '';
          }}
        />
      </div>
      <FailureText failure={failure} />
    </section>
  );
}

/** Profile field types (users §13.1). */
const TYPE = { lines: 2, options: 3, date: 4, link: 5, people: 6 };

/** Custom profile fields of the organization. */
export function ProfileFields({ userId }: { readonly userId: number }) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const management = useManagement();
  const fields = useField('custom_profile_fields') ?? [];
  const source = useMemo<SettingsSource>(
    () => ({
      key: `profile ${userId}`,
      read(name) {
        const value = state.people.get(userId)?.user.profile_data?.[name]?.value;
        const isPeople =
          state.fields.peek('custom_profile_fields')?.find(({ id }) => String(id) === name)?.type === TYPE.people;
        return isPeople && value !== undefined ? JSON.parse(value) : (value ?? '');
      },
      save(changes) {
        const data = Object.entries(changes).map(([id, value]) => ({ id: Number(id), value: value as string }));
        // The server rejects empty values for dates, links and lists.
        const emptied = data.filter(({ value }) => value.length === 0).map(({ id }) => id);
        if (userId === state.selfId && emptied.length > 0) {
          return management.api.delete('/users/me/profile_data', { data: emptied });
        }
        return userId === state.selfId
          ? management.api.patch('/users/me/profile_data', { data })
          : management.api.patch('/users/{user_id}', { user_id: userId, profile_data: data });
      },
      mayEdit: (name) =>
        management.rights.isAdmin ||
        state.fields.get('custom_profile_fields')?.find(({ id }) => String(id) === name)?.editable_by_user === true,
    }),
    [management, state, userId],
  );
  if (fields.length === 0) return null;
  return <Section title={i18n._('About me')} settings={fields.map((field) => settingOf(field))} source={source} />;
}

function settingOf({ id, name, hint, type, field_data: data }: ProfileField): Setting {
  const base = { name: String(id), label: name, ...(hint !== '' && { hint }) };
  switch (type) {
    case TYPE.lines:
      return { ...base, kind: 'lines' };
    case TYPE.options: {
      const options = Object.entries(JSON.parse(data) as Record<string, { text: string; order: string }>)
        .sort(([, a], [, b]) => Number(a.order) - Number(b.order))
        .map(([value, { text }]) => ({ value, label: text }));
      return { ...base, kind: 'choice', options: [{ value: '', label: '–' }, ...options] };
    }
    case TYPE.people:
      return { ...base, kind: 'people' };
    default:
      return {
        ...base,
        kind: 'text',
        isOptional: true,
        ...(type === TYPE.date && { type: 'date' as const }),
        ...(type === TYPE.link && { type: 'url' as const }),
      };
  }
}
