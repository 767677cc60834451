import {
  type AlertWordEventTypes,
  ChangeAlertWords,
  type ChangeAlertWordsInput,
  ListAlertWords,
  loadAlertWords,
} from '@parley/domain/users';
import type { HttpFeature } from '../declarations/feature.js';
import { type RegisterSection, registerSection } from '../declarations/register-section.js';
import { type Route, route } from '../declarations/route.js';
import { form, type Presenters, toAll } from '../delivery/event-presenter.js';
import { MAX_NAMES } from '../params/param-types.js';
import { NoParameters, TextListParam } from '../params/params.js';
import * as wire from '../wire/schema.js';

export const alertWordsSection: RegisterSection = registerSection({
  name: 'alert_words',
  fields: { alert_words: wire.listOf(wire.text()) },
  forSpectators: { alert_words: [] },
  load: (snapshot) => snapshot.load(loadAlertWords),
  present: (words) => ({ alert_words: words }),
});

export const ALERT_WORD_EVENTS = {
  'alert_words.changed': toAll(form('alert_words', { alert_words: wire.listOf(wire.text()) }), ({ words }) => ({
    alert_words: words,
  })),
} satisfies Presenters<keyof AlertWordEventTypes>;

const ALERT_WORD_LIST = wire.fields({ alert_words: wire.listOf(wire.text()) });

class AlertWordsDto {
  @TextListParam({ max: MAX_NAMES, each: { max: 100 }, description: 'The words.' }) alert_words!: string[];
}

const PATH = '/users/me/alert_words';
const present = (words: readonly string[]) => ({ alert_words: words });
const change =
  (op: ChangeAlertWordsInput['op']) =>
  ({ alert_words }: AlertWordsDto): ChangeAlertWordsInput => ({ op, words: alert_words });

export const alertWordRoutes: readonly Route[] = [
  route('GET', PATH, {
    summary: 'List alert words',
    section: 'users §10',
    withoutPage: 'state',
    auth: 'user',
    scope: 'account',
    dto: NoParameters,
    useCase: ListAlertWords,
    response: ALERT_WORD_LIST,
    present,
  }),
  route('POST', PATH, {
    summary: 'Add alert words',
    section: 'users §10',
    auth: 'user',
    scope: 'account',
    dto: AlertWordsDto,
    useCase: ChangeAlertWords,
    toInput: change('add'),
    response: ALERT_WORD_LIST,
    present,
  }),
  route('DELETE', PATH, {
    summary: 'Remove alert words',
    section: 'users §10',
    auth: 'user',
    scope: 'account',
    dto: AlertWordsDto,
    useCase: ChangeAlertWords,
    toInput: change('remove'),
    response: ALERT_WORD_LIST,
    present,
  }),
];

export const ALERT_WORDS = {
  tag: 'Users',
  routes: () => alertWordRoutes,
  events: ALERT_WORD_EVENTS,
  registerSections: () => [alertWordsSection],
} satisfies HttpFeature;
