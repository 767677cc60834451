import type { RealmId, UserId } from '@parley/domain/kernel';
import { GetPresence, ListPresence, type PresenceList, ReportPresence } from '@parley/domain/users';
import type { RouteParts } from '../feature.js';
import { MAX_TEXT_LENGTH } from '../kernel/limits.js';
import { refine, text } from '../kernel/param-types.js';
import { BooleanParam, IntegerParam, NoParameters, param, TextParam } from '../kernel/params.js';
import { WireText } from '../kernel/reply.js';
import { type Route, route } from '../kernel/route.js';
import { ALL_PRESENCES, ONE_PRESENCE, REPORTED_PRESENCE } from './presence.answers.js';
import { lastUpdateIdOf, type PresenceForm, presentPresence, presentPresences } from './presence.presenters.js';

const DEFAULT_HISTORY_DAYS = 14;
const STATUSES: readonly string[] = ['active', 'idle'];
const status = refine(text({ max: MAX_TEXT_LENGTH }), (word) =>
  STATUSES.includes(word) ? undefined : `Invalid status: ${word}`,
);

class ReportPresenceDto {
  @param(status) status!: 'active' | 'idle';
  @IntegerParam({ min: -1, optional: true }) last_update_id?: number;
  @IntegerParam({ min: 0 }) history_limit_days = DEFAULT_HISTORY_DAYS;
  @BooleanParam() ping_only = false;
  @BooleanParam() new_user_input = false;
  @BooleanParam() slim_presence = false;
}

class GetPresenceDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) user_id_or_email!: string;
}

const DIGITS = /^\d{1,15}$/;

export function presenceRoutes({ clock, publicRealms }: Pick<RouteParts, 'clock' | 'publicRealms'>): readonly Route[] {
  const present = async (
    realmId: RealmId,
    list: PresenceList,
    form: PresenceForm,
    known: number | null = null,
  ): Promise<WireText> => {
    const presences = presentPresences(list, form, await publicRealms.of(realmId));
    const rest = { server_timestamp: clock.nowMs() / 1000, presence_last_update_id: lastUpdateIdOf(list, known) };
    return new WireText(`"presences":${presences},${JSON.stringify(rest).slice(1, -1)}`);
  };
  return [
    route('POST', '/users/me/presence', {
      auth: 'user',
      roleRequirements: ['human'],
      hot: true,
      dto: ReportPresenceDto,
      useCase: ReportPresence,
      toInput: (dto) => ({
        status: dto.status,
        isPingOnly: dto.ping_only,
        lastUpdateId: dto.last_update_id ?? null,
        historyDays: dto.history_limit_days,
      }),
      answer: REPORTED_PRESENCE,
      present: async (list, { dto, caller }) => {
        if (!list) return {};
        const form = dto.slim_presence || dto.last_update_id !== undefined ? 'modern' : 'legacy';
        return present(caller.realmId, list, form, dto.last_update_id);
      },
    }),
    route('GET', '/users/:user_id_or_email/presence', {
      auth: 'user',
      dto: GetPresenceDto,
      useCase: GetPresence,
      toInput: ({ user_id_or_email: name }) => (DIGITS.test(name) ? { id: Number(name) as UserId } : { email: name }),
      answer: ONE_PRESENCE,
      present: (entry) => presentPresence(entry, clock.now()),
    }),
    route('GET', '/realm/presence', {
      auth: 'user',
      isExpensive: true,
      dto: NoParameters,
      useCase: ListPresence,
      answer: ALL_PRESENCES,
      present: (list, { caller }) => present(caller.realmId, list, 'legacy'),
    }),
  ];
}
