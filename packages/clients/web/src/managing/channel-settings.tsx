import { useLingui } from '@lingui/react';
import { privacyOf } from '@parley/chat';
import { useEffect, useMemo, useState } from 'react';
import { leaveChannel } from '../channels/channel-menu.js';
import { InlineContent } from '../content/message-body.js';
import { ChannelIcon } from '../editor/destination-heading.js';
import { Archive, ArchiveRestore, Copy, Mail, MessageSquare, X } from '../icons/icons.js';
import { FailureText } from '../kit/dialog.js';
import { IconButton } from '../kit/icon-button.js';
import overlays from '../kit/overlays.module.css';
import { useChat, useComputed, useField } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import type { Refusal } from '../services/reasons.js';
import { useManagement } from '../services/use-management.js';
import { channelFields, channelPermissions, foldersOf, privacyOptions } from './channel-fields.js';
import { channelPlace, SubscribeButton } from './channels.js';
import type { Setting } from './fields.js';
import { DangerousButton, Section, useValues } from './form.js';
import styles from './managing.module.css';
import { MemberList } from './member-list.js';
import { Heading, Missing, SayingButton, Tabs } from './page-parts.js';
import { PeopleField } from './pickers.js';

interface Props {
  readonly channelId: number;
  readonly section: string;
}

/** Settings, permissions and people of a channel, and the user's settings of it. */
export function ChannelSettings({ channelId, section }: Props) {
  const { i18n } = useLingui();
  const chat = useChat();
  const known = useComputed(() => chat.state.channels.get(channelId), [chat, channelId]);
  if (!known) return <Missing kind="channel" />;
  const { channel } = known;
  const tabs = [
    { key: 'general', label: i18n._('General') },
    { key: 'permissions', label: i18n._('Permissions') },
    ...(known.membership === 'subscribed' ? [{ key: 'personal', label: i18n._('Personal') }] : []),
    { key: 'subscribers', label: i18n._('Subscribers') },
  ];
  const current = tabs.some(({ key }) => key === section) ? section : 'general';
  const conversation = chat.formatAddress({
    view: 'narrow',
    narrow: [{ operator: 'channel', operand: channelId }],
    near: null,
  });
  return (
    <div className={styles.page} data-filling={current === 'subscribers' || undefined}>
      <Heading
        title={
          <>
            <ChannelIcon channelId={channelId} size={18} /> {channel.name}
          </>
        }
        back={{ href: '#channels/all', label: i18n._('Channels') }}
      >
        <a className={overlays.button} href={conversation}>
          <MessageSquare size={16} aria-hidden /> {i18n._('View channel')}
        </a>
        <SubscribeButton channelId={channelId} />
      </Heading>
      {channel.is_archived && <p className={styles.notice}>{i18n._('This channel is archived.')}</p>}
      <Tabs
        label={channel.name}
        tabs={tabs.map(({ key, label }) => ({
          href: channelPlace(chat, channelId, key),
          label,
          isCurrent: key === current,
        }))}
      />
      {current === 'general' && <General channelId={channelId} />}
      {current === 'permissions' && <Permissions channelId={channelId} />}
      {current === 'personal' && <Personal channelId={channelId} />}
      {current === 'subscribers' && <Subscribers channelId={channelId} />}
    </div>
  );
}

interface PartProps {
  readonly channelId: number;
}

function General({ channelId }: PartProps) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const management = useManagement();
  const source = useMemo(() => management.channel(channelId), [management, channelId]);
  const rights = useComputed(() => management.rights.channel(channelId), [management, channelId]);
  const channel = useComputed(() => state.channels.get(channelId)!.channel, [state, channelId]);
  const folders = useComputed(() => foldersOf(state), [state]);
  const privacies = useComputed(
    () => privacyOptions(i18n, management.rights, privacyOf(channel)),
    [i18n, management, channel],
  );
  const limits = { name: useField('max_stream_name_length'), description: useField('max_stream_description_length') };
  const { basic, advanced } = channelFields(i18n, { limits, privacies, folders });
  const defaults = useField('realm_default_streams') ?? [];
  const isAdmin = useComputed(() => management.rights.isAdmin, [management]);
  const inDefaults = useMemo(
    () => ({
      key: `default channel ${channelId}`,
      read: () => state.fields.get('realm_default_streams')?.includes(channelId) === true,
      save: ({ is_default }: Readonly<Record<string, unknown>>) =>
        is_default
          ? management.api.post('/default_streams', { stream_id: channelId })
          : management.api.delete('/default_streams', { stream_id: channelId }),
      mayEdit: () => management.rights.isAdmin,
    }),
    [management, state, channelId],
  );
  return (
    <div className={styles.scroll}>
      {!rights.edit && (
        <p className={styles.notice}>{i18n._('Only administrators of the channel can change its settings.')}</p>
      )}
      <Section settings={[...basic, ...advanced]} source={source} />
      {(isAdmin || defaults.includes(channelId)) && !channel.invite_only && (
        <Section
          settings={[{ name: 'is_default', label: i18n._('Default channel for new people'), kind: 'switch' }]}
          source={inDefaults}
        />
      )}
      <section className={styles.section}>
        <h3>{i18n._('About')}</h3>
        <div className={styles.about}>
          {channel.rendered_description === '' ? (
            i18n._('No description')
          ) : (
            <InlineContent html={channel.rendered_description} />
          )}
        </div>
        <p className={styles.hint}>
          {i18n._('Created on {date}', {
            date: i18n.date(new Date(channel.date_created * 1000), { dateStyle: 'long' }),
          })}
        </p>
        {!channel.is_archived && <EmailAddress channelId={channelId} />}
        {rights.edit && <ArchiveButton channelId={channelId} isArchived={channel.is_archived} name={channel.name} />}
      </section>
    </div>
  );
}

/** Address that turns emails into channel messages; fetched on a click, since it is a secret. */
function EmailAddress({ channelId }: PartProps) {
  const { i18n } = useLingui();
  const { api } = useManagement();
  const [email, setEmail] = useState<string | null>(null);
  const [failure, setFailure] = useState<Refusal | null>(null);
  if (email === '') return <p className={styles.hint}>{i18n._('This server does not receive emails.')}</p>;
  if (email !== null) {
    return (
      <p className={styles.address}>
        <output className={styles.key}>{email}</output>
        <SayingButton
          icon={Copy}
          label={i18n._('Copy email address')}
          done={i18n._('Copied')}
          onClick={() => navigator.clipboard.writeText(email)}
        />
        <span className={styles.hint}>{i18n._('Emails to this address are posted in the channel.')}</span>
      </p>
    );
  }
  return (
    <div className={styles.address}>
      <button
        type="button"
        className={overlays.button}
        onClick={() => {
          api
            .get('/streams/{stream_id}/email_address', { stream_id: channelId })
            .then(({ email: address }) => setEmail(address), setFailure);
        }}
      >
        <Mail size={16} aria-hidden /> {i18n._('Show email address')}
      </button>
      <FailureText failure={failure} />
    </div>
  );
}

function ArchiveButton({
  channelId,
  isArchived,
  name,
}: PartProps & { readonly isArchived: boolean; readonly name: string }) {
  const { i18n } = useLingui();
  const management = useManagement();
  if (isArchived) {
    return (
      <button
        type="button"
        className={overlays.button}
        onClick={() => management.channel(channelId).save({ is_archived: false }).catch(reportFailure)}
      >
        <ArchiveRestore size={16} aria-hidden /> {i18n._('Unarchive channel')}
      </button>
    );
  }
  return (
    <DangerousButton
      title={i18n._('Archive #{channel}?', { channel: name })}
      action={i18n._('Archive')}
      text={i18n._('Its messages can still be read. Nobody can post until it is unarchived.')}
      onConfirm={() => management.api.delete('/streams/{stream_id}', { stream_id: channelId })}
    >
      <Archive size={16} aria-hidden /> {i18n._('Archive channel')}
    </DangerousButton>
  );
}

function Permissions({ channelId }: PartProps) {
  const { i18n } = useLingui();
  const management = useManagement();
  const source = useMemo(() => management.channel(channelId), [management, channelId]);
  const definitions = useField('server_supported_permission_settings')?.stream;
  const mayEdit = useComputed(() => management.rights.channel(channelId).edit, [management, channelId]);
  return (
    <div className={styles.scroll}>
      {!mayEdit && (
        <p className={styles.notice}>{i18n._('Only administrators of the channel can change its permissions.')}</p>
      )}
      <Section settings={channelPermissions(i18n, definitions)} source={source} />
    </div>
  );
}

function Personal({ channelId }: PartProps) {
  const { i18n } = useLingui();
  const management = useManagement();
  const source = useMemo(() => management.membership(channelId), [management, channelId]);
  const settings = useField('user_settings');
  const choice = (name: string, label: string, standard: boolean | undefined): Setting => ({
    name,
    label,
    kind: 'choice',
    options: [
      { value: null, label: standard ? i18n._('As usual (on)') : i18n._('As usual (off)') },
      { value: true, label: i18n._('On') },
      { value: false, label: i18n._('Off') },
    ],
  });
  return (
    <div className={styles.scroll}>
      <Section
        settings={[
          { name: 'is_muted', label: i18n._('Mute channel'), kind: 'switch' },
          { name: 'pin_to_top', label: i18n._('Pin channel to top'), kind: 'switch' },
          { name: 'color', label: i18n._('Color'), kind: 'color' },
        ]}
        source={source}
      />
      <Section
        title={i18n._('Notifications about all messages')}
        settings={[
          choice('desktop_notifications', i18n._('In the browser'), settings?.enable_stream_desktop_notifications),
          choice('audible_notifications', i18n._('With sounds'), settings?.enable_stream_audible_notifications),
          choice('push_notifications', i18n._('On phones'), settings?.enable_stream_push_notifications),
          choice('email_notifications', i18n._('By email'), settings?.enable_stream_email_notifications),
          choice('wildcard_mentions_notify', i18n._('About mentions of everyone'), settings?.wildcard_mentions_notify),
        ]}
        source={source}
      />
    </div>
  );
}

function Subscribers({ channelId }: PartProps) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const management = useManagement();
  const rights = useComputed(() => management.rights.channel(channelId), [management, channelId]);
  const [isLoaded, setLoaded] = useState(false);
  useEffect(() => {
    if (!rights.seeSubscribers) return;
    management.loadSubscribers(channelId).then(() => setLoaded(true), reportFailure);
  }, [management, channelId, rights.seeSubscribers]);
  const ids = useComputed(() => state.subscribers.get(channelId) ?? [], [state, channelId]);
  const { values, change, forget } = useValues({ people: [] }, `people for channel ${channelId}`);
  const chosen = values.people as readonly number[];
  const [isWorking, setWorking] = useState(false);
  const add = () => {
    setWorking(true);
    management
      .subscribe(channelId, chosen)
      .then(forget, reportFailure)
      .finally(() => setWorking(false));
  };
  const remove = (anchor: HTMLElement, id: number) =>
    id === state.selfId ? leaveChannel(i18n, anchor, management, channelId) : management.unsubscribe(channelId, [id]);
  if (!rights.seeSubscribers) {
    return <p className={styles.empty}>{i18n._('You cannot see the people of this channel.')}</p>;
  }
  return (
    <>
      {rights.addOthers && (
        <div className={styles.adding}>
          <PeopleField
            label={i18n._('Add people')}
            without={ids}
            value={chosen}
            onChange={(people) => change({ people })}
          />
          <button type="button" className={overlays.primary} disabled={chosen.length === 0 || isWorking} onClick={add}>
            {i18n._('Add')}
          </button>
        </div>
      )}
      {isLoaded && (
        <MemberList userIds={ids} label={i18n._('Subscribers')}>
          {(id, name) =>
            (rights.removeOthers || id === state.selfId) && (
              <IconButton
                icon={X}
                label={i18n._('Remove {name}', { name })}
                onClick={({ currentTarget }) => remove(currentTarget, id).catch(reportFailure)}
              />
            )
          }
        </MemberList>
      )}
    </>
  );
}
