import { ChangeAlertWords, type ChangeAlertWordsInput, ListAlertWords } from '@parley/domain/users';
import { MAX_NAMES } from '../kernel/limits.js';
import { NoParameters, TextListParam } from '../kernel/params.js';
import { type Route, route } from '../kernel/route.js';
import * as wire from '../kernel/wire-schema.js';

const ALERT_WORDS = wire.fields({ alert_words: wire.listOf(wire.text()) });

class AlertWordsDto {
  @TextListParam({ max: MAX_NAMES, each: { max: 100 } }) alert_words!: string[];
}

const PATH = '/users/me/alert_words';
const present = (words: readonly string[]) => ({ alert_words: words });
const change =
  (op: ChangeAlertWordsInput['op']) =>
  ({ alert_words }: AlertWordsDto): ChangeAlertWordsInput => ({ op, words: alert_words });

export const alertWordRoutes: readonly Route[] = [
  route('GET', PATH, { auth: 'user', dto: NoParameters, useCase: ListAlertWords, answer: ALERT_WORDS, present }),
  route('POST', PATH, {
    auth: 'user',
    dto: AlertWordsDto,
    useCase: ChangeAlertWords,
    toInput: change('add'),
    answer: ALERT_WORDS,
    present,
  }),
  route('DELETE', PATH, {
    auth: 'user',
    dto: AlertWordsDto,
    useCase: ChangeAlertWords,
    toInput: change('remove'),
    answer: ALERT_WORDS,
    present,
  }),
];
