import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import type { Integration } from '@parley/client';
import { type FormEvent, useCallback, useMemo, useState } from 'react';
import { BookOpen } from '../icons/icons.js';
import { Dialog, FailureText } from '../kit/dialog.js';
import { Loading } from '../kit/loading.js';
import overlays from '../kit/overlays.module.css';
import { useChat, useComputed, useServices } from '../services/context.js';
import { openOverlay } from '../services/overlay.js';
import type { Refusal } from '../services/reasons.js';
import { useManagement } from '../services/use-management.js';
import { BOT_TYPE } from './bots.js';
import type { Setting } from './fields.js';
import { Fields, useValues, type Values } from './form.js';
import styles from './managing.module.css';
import { Line, SearchField } from './page-parts.js';
import { useFetched } from './personal-lists.js';

/** Services that can post to channels, and the addresses for them. */
export function Integrations() {
  const { i18n } = useLingui();
  const { api, rights } = useManagement();
  const fetch = useCallback(async () => (await api.get('/integrations', {})).integrations, [api]);
  const [integrations] = useFetched(fetch);
  const [query, setQuery] = useState('');
  const mayCreate = useComputed(
    () => rights.has('realm_can_create_bots_group') || rights.has('realm_can_create_write_only_bots_group'),
    [rights],
  );
  if (!integrations) return <Loading />;
  const found = integrations
    .filter(({ display_name }) => display_name.toLowerCase().includes(query.trim().toLowerCase()))
    .sort((a, b) => a.display_name.localeCompare(b.display_name));
  return (
    <>
      <p className={styles.hint}>
        {i18n._('These services post what happens there. Each one sends it to an address that belongs to a bot.')}
      </p>
      {!mayCreate && <p className={styles.notice}>{i18n._('You are not allowed to create bots.')}</p>}
      <SearchField label={i18n._('Search integrations')} value={query} onChange={setQuery} />
      {found.length === 0 && <p className={styles.empty}>{i18n._('There are no such integrations.')}</p>}
      <ul className={styles.rows} aria-label={i18n._('Integrations')}>
        {found.map((integration) => (
          <IntegrationLine key={integration.name} integration={integration} />
        ))}
      </ul>
    </>
  );
}

function IntegrationLine({ integration }: { readonly integration: Integration }) {
  const { i18n } = useLingui();
  const { display_name: name, documentation_url: documentation } = integration;
  return (
    <Line
      title={name}
      detail={
        <a
          className={styles.documentation}
          href={documentation}
          target="_blank"
          rel="noreferrer"
          aria-label={i18n._('Documentation of {name}', { name })}
        >
          <BookOpen size={14} aria-hidden /> {i18n._('Documentation')}
        </a>
      }
    >
      <button
        type="button"
        className={overlays.button}
        aria-haspopup="dialog"
        aria-label={i18n._('Set up {name}', { name })}
        onClick={({ currentTarget }) =>
          openOverlay(currentTarget, async () => <SetUpDialog integration={integration} />)
        }
      >
        {i18n._('Set up')}
      </button>
    </Line>
  );
}

/** Creates a bot, or uses an existing one, and shows the address for the service. */
function SetUpDialog({ integration }: { readonly integration: Integration }) {
  const { i18n } = useLingui();
  const { baseUrl } = useServices();
  const { api } = useManagement();
  const defaults = useMemo(() => defaultsOf(integration), [integration]);
  const { values, change } = useValues(defaults.values);
  const [events, setEvents] = useState<ReadonlySet<string>>(defaults.events);
  const [key, setKey] = useState<string | null>(null);
  const [failure, setFailure] = useState<Refusal | null>(null);
  const [isWorking, setWorking] = useState(false);
  const settings = useSettings(integration, values);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setWorking(true);
    setFailure(null);
    const { bot, full_name, short_name } = values as { bot: number; full_name: string; short_name: string };
    const call =
      bot === NEW_BOT
        ? api.post('/bots', { full_name, short_name, bot_type: BOT_TYPE.incoming })
        : api.get('/bots/{bot_id}/api_key', { bot_id: bot });
    call
      .then(({ api_key }) => setKey(api_key))
      .catch(setFailure)
      .finally(() => setWorking(false));
  };
  const title = i18n._('Set up {name}', { name: integration.display_name });
  if (key !== null) {
    return (
      <Dialog title={title} isKept>
        <Address address={addressOf(baseUrl, integration, { key, values, events })} integration={integration} />
      </Dialog>
    );
  }
  return (
    <Dialog title={title} isKept>
      <form className={overlays.form} onSubmit={submit}>
        <Fields settings={settings} values={values} onChange={(next) => change(withOneChannel(next))} />
        <EventSwitches integration={integration} value={events} onChange={setEvents} />
        <FailureText failure={failure} />
        <div className={overlays.buttons}>
          <button type="submit" className={overlays.primary} disabled={isWorking}>
            {values.bot === NEW_BOT ? i18n._('Create bot') : i18n._('Show address')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

const NEW_BOT = 0;

const channelsOf = ({ channels }: Values): readonly number[] => (channels ?? []) as readonly number[];

/** Keeps only the channel chosen last. */
const withOneChannel = (values: Values): Values => ({ ...values, channels: channelsOf(values).slice(-1) });

function defaultsOf({ name, display_name, events }: Integration) {
  return {
    values: { bot: NEW_BOT, full_name: display_name, short_name: name.replaceAll('_', '-') } as Values,
    events: new Set(events.filter((event) => event.is_on_by_default).map((event) => event.name)),
  };
}

function useSettings({ has_branches, options }: Integration, { bot }: Values): readonly Setting[] {
  const { i18n } = useLingui();
  const { state } = useChat();
  const bots = useComputed(
    () =>
      state.people
        .values()
        .filter(
          ({ user, list }) =>
            user.bot_type === BOT_TYPE.incoming && user.bot_owner_id === state.selfId && list === 'realm_users',
        )
        .map(({ user }) => ({ value: user.user_id, label: user.full_name })),
    [state],
  );
  return [
    ...(bots.length === 0
      ? []
      : [
          {
            name: 'bot',
            label: i18n._('Bot'),
            kind: 'choice',
            options: [{ value: NEW_BOT, label: i18n._('A new bot') }, ...bots],
          } as const,
        ]),
    ...(bot === NEW_BOT
      ? ([
          { name: 'full_name', label: i18n._('Name'), kind: 'text', maxLength: 100 },
          {
            name: 'short_name',
            label: i18n._('Name in its address'),
            kind: 'text',
            maxLength: 60,
            hint: i18n._('Letters, digits and hyphens'),
          },
        ] as const)
      : []),
    {
      name: 'channels',
      label: i18n._('Channel'),
      kind: 'channels',
      hint: i18n._('Without a channel the bot sends you direct messages.'),
    },
    {
      name: 'topic',
      label: i18n._('Topic'),
      kind: 'text',
      isOptional: true,
      hint: i18n._('Without a topic each message goes to the topic of its subject.'),
    },
    ...(has_branches
      ? [
          {
            name: 'branches',
            label: i18n._('Branches'),
            kind: 'text',
            isOptional: true,
            hint: i18n._('Only pushes to these branches are posted. Separate them with commas; empty: all.'),
          } as const,
        ]
      : []),
    ...options.map(({ key, label }): Setting => {
      const texts = optionTexts(i18n)[key];
      return { name: key, label: texts?.label ?? key, kind: 'text', isOptional: true, hint: texts?.hint ?? label };
    }),
  ];
}

/** Texts of the options that this client knows; the server describes others in English. */
const optionTexts = (i18n: I18n): Readonly<Record<string, { readonly label: string; readonly hint: string }>> => ({
  name: {
    label: i18n._('Label of names'),
    hint: i18n._('Label shown as the name of an alert; empty: alertname.'),
  },
  desc: {
    label: i18n._('Annotation of descriptions'),
    hint: i18n._('Annotation or label shown as the description of an alert; empty: summary or description.'),
  },
  template: {
    label: i18n._('Template of messages'),
    hint: i18n._('Text with JSON paths in double braces; empty: the whole JSON.'),
  },
});

interface EventsProps {
  readonly integration: Integration;
  readonly value: ReadonlySet<string>;
  onChange(value: ReadonlySet<string>): void;
}

function EventSwitches({ integration: { events }, value, onChange }: EventsProps) {
  const { i18n } = useLingui();
  if (events.length < 2) return null;
  const toggle = (name: string, isOn: boolean) => {
    const next = new Set(value);
    if (isOn) next.add(name);
    else next.delete(name);
    onChange(next);
  };
  return (
    <details className={styles.details}>
      <summary>{i18n._('Events: {count} of {total} are posted', { count: value.size, total: events.length })}</summary>
      <fieldset className={styles.events}>
        <legend>{i18n._('Events that are posted')}</legend>
        {events
          .toSorted((a, b) => (a.name < b.name ? -1 : 1))
          .map(({ name }) => (
            <label key={name} className={styles.switch}>
              <input
                type="checkbox"
                checked={value.has(name)}
                onChange={({ target }) => toggle(name, target.checked)}
              />
              <code>{name}</code>
            </label>
          ))}
      </fieldset>
    </details>
  );
}

interface Choices {
  readonly key: string;
  readonly values: Values;
  readonly events: ReadonlySet<string>;
}

/** Address with only the choices that differ from the defaults. */
function addressOf(
  baseUrl: string,
  { name, events, options }: Integration,
  { key, values, events: chosen }: Choices,
): string {
  const url = new URL(`api/v1/external/${name}`, baseUrl);
  url.searchParams.set('api_key', key);
  const added = events.filter((event) => !event.is_on_by_default && chosen.has(event.name));
  const removed = events.filter((event) => event.is_on_by_default && !chosen.has(event.name));
  const namesOf = (list: typeof events) => (list.length === 0 ? '' : JSON.stringify(list.map((event) => event.name)));
  const optional = {
    stream: channelsOf(values)[0],
    topic: values.topic,
    branches: values.branches,
    include_events: namesOf(added),
    exclude_events: namesOf(removed),
    ...Object.fromEntries(options.map(({ key: option }) => [option, values[option]])),
  };
  for (const [parameter, value] of Object.entries(optional)) {
    const text = String(value ?? '').trim();
    if (text !== '') url.searchParams.set(parameter, text);
  }
  return url.href;
}

function Address({ address, integration }: { readonly address: string; readonly integration: Integration }) {
  const { i18n } = useLingui();
  const { display_name: name, documentation_url, setup } = integration;
  return (
    <div className={overlays.form}>
      <p>{i18n._('Enter this address as the webhook of {name}. Anyone who knows it can post as the bot.', { name })}</p>
      <output className={styles.key}>{address}</output>
      <div className={overlays.buttons}>
        <a className={overlays.button} href={documentation_url} target="_blank" rel="noreferrer">
          {i18n._('Documentation')}
        </a>
        <CopyButton text={address} />
      </div>
      {setup !== null && <Setup text={setup.replaceAll('ADDRESS', address)} name={name} />}
    </div>
  );
}

/** Body, script or configuration for a service without a fixed format. */
function Setup({ text, name }: { readonly text: string; readonly name: string }) {
  const { i18n } = useLingui();
  return (
    <>
      <p>{i18n._('Also enter this at {name}:', { name })}</p>
      <pre className={styles.key}>{text}</pre>
      <div className={overlays.buttons}>
        <CopyButton text={text} label={i18n._('Copy text')} />
      </div>
    </>
  );
}

function CopyButton({ text, label }: { readonly text: string; readonly label?: string }) {
  const { i18n } = useLingui();
  const [isCopied, setCopied] = useState(false);
  return (
    <button
      type="button"
      className={overlays.primary}
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
    >
      {isCopied ? i18n._('Copied') : (label ?? i18n._('Copy'))}
    </button>
  );
}
