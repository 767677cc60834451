import { codeOf, type EventTemplate, type Integration, type Payload, topicOf } from './integration.js';

const user = (payload: Payload): string => payload.person('alert.username', 'source.name');
const priority = (payload: Payload): string =>
  payload.has('alert.priority') ? ` (${payload.text('alert.priority')})` : '';
/** Opsgenie has several addresses, so that only the number can be shown. */
const alert = (payload: Payload): string => {
  const number = payload.has('alert.tinyId') ? ` #${payload.text('alert.tinyId')}` : '';
  return `the alert${number} ${payload.text('alert.message')}`;
};

const changed = (text: (payload: Payload) => string): EventTemplate => ({
  topic: (payload) => topicOf(payload.maybe('integrationName'), payload.raw('alert.message')),
  text,
});
const done = (verb: string, path?: string): EventTemplate =>
  changed((payload) => `${user(payload)} ${verb} ${alert(payload)}.${path === undefined ? '' : payload.quote(path)}`);
const changedPart = (verb: string, path: string, preposition: string): EventTemplate =>
  changed((payload) => {
    const what = payload.maybe(path);
    return `${user(payload)} ${verb}${what === '' ? '' : ` ${codeOf(what)}`} ${preposition} ${alert(payload)}.`;
  });

export const OPSGENIE: Integration = {
  name: 'opsgenie',
  displayName: 'Opsgenie',
  documentation: 'https://support.atlassian.com/opsgenie/docs/integrate-opsgenie-with-webhook/',
  eventOf: (payload) => payload.raw('action'),
  events: {
    Create: changed(
      (payload) =>
        `:alert: **New alert:** ${payload.text('alert.message')}${priority(payload)}.${payload.quote('alert.description')}`,
    ),
    Acknowledge: done('acknowledged'),
    UnAcknowledge: done('withdrew the acknowledgement of'),
    AddNote: done('added a note to', 'alert.note'),
    AssignOwnership: changed(
      (payload) => `${user(payload)} assigned ${alert(payload)} to ${payload.person('alert.owner')}.`,
    ),
    TakeOwnership: done('took'),
    AddTeam: changedPart('added the team', 'alert.team', 'to'),
    AddRecipient: changedPart('added the recipient', 'alert.recipient', 'to'),
    AddResponder: done('added responders to'),
    Escalate: changed((payload) => `Escalated ${alert(payload)}.`),
    UpdatePriority: changed(
      (payload) => `${user(payload)} changed the priority of ${alert(payload)}${priority(payload)}.`,
    ),
    UpdateMessage: done('changed the message of'),
    UpdateDescription: done('changed the description of', 'alert.description'),
    AddTags: changedPart('added the tags', 'alert.addedTags', 'to'),
    RemoveTags: changedPart('removed the tags', 'alert.removedTags', 'from'),
    Snooze: done('snoozed'),
    SnoozeEnded: changed((payload) => `The snooze of ${alert(payload)} ended.`),
    Close: changed((payload) => `:squared_ok: ${user(payload)} **closed** ${alert(payload)}.`),
    Delete: done('deleted'),
  },
  offByDefault: ['UpdateMessage', 'UpdateDescription', 'AddTags', 'RemoveTags', 'SnoozeEnded'],
  ignored: ['AddDetails', 'RemoveDetails'],
};
