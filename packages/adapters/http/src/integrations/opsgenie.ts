import {
  codeOf,
  type EventTemplate,
  type Integration,
  linkTo,
  type OptionValues,
  type Payload,
  topicOf,
} from './integration.js';

const user = (payload: Payload): string => payload.person('alert.username', 'source.name');
const priority = (payload: Payload): string =>
  payload.has('alert.priority') ? ` (${payload.text('alert.priority')})` : '';
/** Opsgenie has an address for each region, so that alerts are linked only if the URL names the region. */
const linked = (payload: Payload, text: string, { eu_region }: OptionValues): string => {
  const id = payload.maybe('alert.alertId');
  const url = `https://app.${eu_region ? 'eu.' : ''}opsgenie.com/alert/detail/${encodeURIComponent(id)}/details`;
  return linkTo(text, eu_region === undefined || id === '' ? null : url);
};
const numbered = (payload: Payload, options: OptionValues): string => {
  const number = payload.has('alert.tinyId') ? ` #${payload.text('alert.tinyId')}` : '';
  return linked(payload, `the alert${number} ${payload.text('alert.message')}`, options);
};

const topic = (payload: Payload): string => topicOf(payload.maybe('integrationName'), payload.raw('alert.message'));
const changed = (text: (payload: Payload, alert: string) => string): EventTemplate => ({
  topic,
  text: (payload, options) => text(payload, numbered(payload, options)),
});
const done = (verb: string, path?: string): EventTemplate =>
  changed((payload, alert) => `${user(payload)} ${verb} ${alert}.${path === undefined ? '' : payload.quote(path)}`);
const changedPart = (verb: string, path: string, preposition: string): EventTemplate =>
  changed((payload, alert) => {
    const what = payload.maybe(path);
    return `${user(payload)} ${verb}${what === '' ? '' : ` ${codeOf(what)}`} ${preposition} ${alert}.`;
  });

export const OPSGENIE: Integration = {
  name: 'opsgenie',
  displayName: 'Opsgenie',
  documentation: 'https://support.atlassian.com/opsgenie/docs/integrate-opsgenie-with-webhook/',
  options: { eu_region: 'Links alerts: `true` in the European region, `false` in the others.' },
  eventOf: (payload) => payload.raw('action'),
  events: {
    Create: {
      topic,
      text: (payload, options) =>
        `:alert: **New alert:** ${linked(payload, payload.text('alert.message'), options)}${priority(payload)}.${payload.quote('alert.description')}`,
    },
    Acknowledge: done('acknowledged'),
    UnAcknowledge: done('withdrew the acknowledgement of'),
    AddNote: done('added a note to', 'alert.note'),
    AssignOwnership: changed(
      (payload, alert) => `${user(payload)} assigned ${alert} to ${payload.person('alert.owner')}.`,
    ),
    TakeOwnership: done('took'),
    AddTeam: changedPart('added the team', 'alert.team', 'to'),
    AddRecipient: changedPart('added the recipient', 'alert.recipient', 'to'),
    AddResponder: done('added responders to'),
    Escalate: changed((_, alert) => `Escalated ${alert}.`),
    UpdatePriority: changed(
      (payload, alert) => `${user(payload)} changed the priority of ${alert}${priority(payload)}.`,
    ),
    UpdateMessage: done('changed the message of'),
    UpdateDescription: done('changed the description of', 'alert.description'),
    AddTags: changedPart('added the tags', 'alert.addedTags', 'to'),
    RemoveTags: changedPart('removed the tags', 'alert.removedTags', 'from'),
    Snooze: done('snoozed'),
    SnoozeEnded: changed((_, alert) => `The snooze of ${alert} ended.`),
    Close: changed((payload, alert) => `:squared_ok: ${user(payload)} **closed** ${alert}.`),
    Delete: done('deleted'),
  },
  offByDefault: ['UpdateMessage', 'UpdateDescription', 'AddTags', 'RemoveTags', 'SnoozeEnded'],
  ignored: ['AddDetails', 'RemoveDetails'],
};
