import { type EventTemplate, type Integration, lookUp, type Payload, topicOf } from './integration.js';

const trigger = (payload: Payload): string => payload.link(payload.text('trigger'), 'link');
const facts = (payload: Payload): string => {
  const severity = payload.has('severity') ? ` (${payload.text('severity')})` : '';
  return `${severity} on ${payload.code('hostname')}`;
};

const on = (text: string): EventTemplate => ({
  topic: (payload) => topicOf(payload.raw('hostname')),
  text: (payload) => `${text} ${trigger(payload)}${facts(payload)}.${payload.quote('item')}`,
});

/** Values of the macro `{EVENT.STATUS}`, and of `{TRIGGER.STATUS}`, which has the same meaning. */
const STATES: Readonly<Record<string, string>> = {
  problem: 'problem',
  ok: 'resolved',
  resolved: 'resolved',
  update: 'update',
};

export const ZABBIX: Integration = {
  name: 'zabbix',
  displayName: 'Zabbix',
  documentation: 'https://www.zabbix.com/documentation/current/en/manual/config/notifications/media/webhook',
  setup: `Media type: Webhook

Parameters:
url        ADDRESS
hostname   {HOST.NAME}
severity   {EVENT.SEVERITY}
status     {EVENT.STATUS}
trigger    {EVENT.NAME}
item       {EVENT.OPDATA}
link       {$ZABBIX.URL}/tr_events.php?triggerid={TRIGGER.ID}&eventid={EVENT.ID}

Script:
var request = new HttpRequest();
request.addHeader('Content-Type: application/json');
request.post(JSON.parse(value).url, value);
if (request.getStatus() !== 200) throw 'Status ' + request.getStatus();
return 'OK';`,
  eventOf: (payload) => {
    const status = payload.raw('status');
    return lookUp(STATES, status.toLowerCase()) ?? status;
  },
  events: {
    problem: on(':alert: **Problem:**'),
    resolved: on(':squared_ok: **Resolved:**'),
    update: on('**Updated:**'),
  },
  offByDefault: ['update'],
};
