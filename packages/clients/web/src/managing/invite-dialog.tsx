import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import type { ParleyError } from '@parley/client';
import { useCallback, useState } from 'react';
import { Copy, Plus } from '../icons/icons.js';
import { FormDialog, KEEP_OPEN } from '../kit/dialog.js';
import overlays from '../kit/overlays.module.css';
import { useChat, useComputed, useField } from '../services/context.js';
import { reportFailure, useRefusals } from '../services/failures.js';
import { useManagement } from '../services/use-management.js';
import type { Setting } from './fields.js';
import { Fields, useValues, type Values } from './form.js';
import styles from './managing.module.css';
import { Line, SayingButton } from './page-parts.js';
import { useFetched } from './personal-lists.js';
import { ROLE, rolesOf } from './roles.js';

const DAY_MINUTES = 24 * 60;

const STANDARD_INVITATION: Values = {
  invite_expires_in_minutes: 10 * DAY_MINUTES,
  invite_as: ROLE.member,
  include_realm_default_subscriptions: true,
  stream_ids: [],
  group_ids: [],
};

function useInvitationFields(isLink: boolean): readonly Setting[] {
  const { i18n } = useLingui();
  const { state } = useChat();
  const ownRole = state.people.peek(state.selfId)?.user.role ?? ROLE.member;
  const defaults = useField('realm_default_streams') ?? [];
  return [
    ...(isLink
      ? []
      : [
          {
            name: 'invitee_emails',
            label: i18n._('Email addresses'),
            kind: 'lines',
            hint: i18n._('One per line, or separated by commas'),
          } as const,
        ]),
    {
      name: 'invite_expires_in_minutes',
      label: i18n._('Expires'),
      kind: 'choice',
      options: [
        ...[1, 3, 10, 30].map((days) => ({
          value: days * DAY_MINUTES,
          label: i18n._('{count, plural, one {after # day} other {after # days}}', { count: days }),
        })),
        { value: null, label: i18n._('Never') },
      ],
    },
    {
      name: 'invite_as',
      label: i18n._('Role'),
      kind: 'choice',
      options: rolesOf(i18n).filter(({ value }) => value >= ownRole),
    },
    {
      name: 'include_realm_default_subscriptions',
      label: i18n._('Subscribe to the default channels'),
      kind: 'switch',
      ...(defaults.length === 0 && { hint: i18n._('There are none now.') }),
    },
    { name: 'stream_ids', label: i18n._('Further channels'), kind: 'channels' },
    { name: 'group_ids', label: i18n._('Groups'), kind: 'groups' },
  ];
}

/** The user's link, which may be copied, and a form for a further link or for invitations by email. */
export function InviteDialog({ isLink }: { readonly isLink: boolean }) {
  const { i18n } = useLingui();
  const { api } = useManagement();
  const settings = useInvitationFields(isLink);
  const { values, change, forget } = useValues(STANDARD_INVITATION, isLink ? 'invitation link' : 'invitations');
  const [refused, setRefused] = useState<readonly RefusedAddress[]>([]);
  const textOf = useRefusals(refused.length > 0);
  const submit = async () => {
    const { invitee_emails, ...others } = values;
    const params = others as { stream_ids: readonly number[] };
    if (isLink) {
      await api.post('/invites/multiuse', params);
      forget();
      return KEEP_OPEN;
    }
    setRefused([]);
    try {
      await api.post('/invites', { ...params, invitee_emails: String(invitee_emails ?? '') });
      forget();
    } catch (error) {
      const { details } = error as ParleyError;
      const addresses = (details?.errors ?? []) as readonly RefusedAddress[];
      setRefused(addresses);
      // The other addresses were invited.
      if (details?.sent_invitations === true) {
        change({ ...values, invitee_emails: addresses.map(([address]) => address).join('\n') });
      }
      throw error;
    }
  };
  return (
    <FormDialog
      title={isLink ? i18n._('Create invitation link') : i18n._('Invite people')}
      action={isLink ? i18n._('Create') : i18n._('Invite')}
      onSubmit={submit}
      onCancel={forget}
    >
      <InvitationLink mayCreate={!isLink} />
      <Fields settings={settings} values={values} onChange={change} />
      {refused.length > 0 && (
        <ul className={styles.rows} aria-label={i18n._('Addresses that were not invited')}>
          {refused.map(([address, reason]) => (
            <Line key={address} title={address} detail={textOf?.(reason) ?? reason} />
          ))}
        </ul>
      )}
    </FormDialog>
  );
}

/** Address with the server's reason (organization §9.3). */
type RefusedAddress = readonly [address: string, reason: string, ...rest: unknown[]];

/** The user's newest invitation link; `mayCreate`: or else a button that creates one with the usual settings. */
function InvitationLink({ mayCreate }: { readonly mayCreate: boolean }) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const { api, rights } = useManagement();
  const isPermitted = useComputed(() => rights.has('realm_create_multiuse_invite_group'), [rights]);
  const fetch = useCallback(
    async () => (isPermitted ? (await api.get('/invites', {})).invites : []),
    [api, isPermitted],
  );
  const [invites] = useFetched(fetch, 'invites');
  const own = invites?.filter((invite) => invite.is_multiuse && invite.invited_by_user_id === state.selfId);
  const newest = own?.reduce((last, invite) => (invite.id > last.id ? invite : last), own[0]!);
  const link = newest?.link_url;
  if (!invites || !isPermitted) return null;
  if (newest === undefined || link === undefined) {
    if (!mayCreate) return null;
    const create = () => api.post('/invites/multiuse', STANDARD_INVITATION as { stream_ids: readonly number[] });
    return (
      <button type="button" className={overlays.button} onClick={() => void create().catch(reportFailure)}>
        <Plus size={16} aria-hidden /> {i18n._('Create link')}
      </button>
    );
  }
  const role = rolesOf(i18n).find(({ value }) => value === newest.invited_as)?.label;
  return (
    <div className={styles.copied}>
      <label className={overlays.field}>
        {i18n._('Invitation link')}
        <input readOnly value={link} onFocus={({ target }) => target.select()} />
      </label>
      <SayingButton
        icon={Copy}
        label={i18n._('Copy link')}
        done={i18n._('Copied')}
        onClick={() => navigator.clipboard.writeText(link)}
      />
      <p className={styles.hint}>{[role, expiryOf(newest, i18n)].filter(Boolean).join(' · ')}</p>
    </div>
  );
}

/** Text about the end of an invitation. */
export function expiryOf({ expiry_date: at }: { readonly expiry_date: number | null }, i18n: I18n): string {
  if (at === null) return i18n._('never expires');
  const time = i18n.date(new Date(at * 1000), { dateStyle: 'medium', timeStyle: 'short' });
  return i18n._('expires {time}', { time });
}
