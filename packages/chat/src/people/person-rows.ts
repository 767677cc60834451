import type { Clock } from '../kernel/ports.js';
import { derived, isSame, isSameDeep, Memo, type Reading } from '../kernel/reactive.js';
import type { ChatState } from '../kernel/state.js';
import type { PersonRow } from '../kernel/view-models.js';

const OFFLINE_AFTER_SECONDS = 140;

/** People by id. */
export class People {
  private readonly rows = new Memo((id: number) => this.row(id), isSameDeep);
  /** Ids of active people and bots, in the order of the server. */
  readonly ids: Reading<readonly number[]>;

  constructor(
    private readonly state: ChatState,
    private readonly clock: Clock,
  ) {
    this.ids = derived(
      () => state.people.keys().filter((id) => state.people.peek(id)?.list !== 'realm_non_active_users'),
      isSame,
    );
  }

  /** Never null: people whom the user may not see have an empty name. */
  person(id: number): Reading<PersonRow> {
    return this.rows.at(id);
  }

  private row(id: number): PersonRow {
    const { state } = this;
    const person = state.people.get(id);
    const status = state.statuses.get(id);
    const emoji = status?.emoji_name;
    return {
      id,
      name: person?.user.full_name ?? '',
      avatarUrl: person?.user.avatar_url ?? null,
      isBot: person?.user.is_bot === true,
      isGuest: person?.user.is_guest === true,
      isActive: person !== undefined && person.list !== 'realm_non_active_users',
      isKnown: person !== undefined,
      isMuted: state.fields.get('muted_users')?.some((muted) => muted.id === id) === true,
      presence: this.presence(id),
      statusText: status?.status_text ?? '',
      statusEmoji:
        emoji === undefined ? null : { name: emoji, code: status?.emoji_code ?? '', type: status?.reaction_type ?? '' },
    };
  }

  private presence(id: number): PersonRow['presence'] {
    const presence = this.state.presences.get(id);
    if (!presence) return 'offline';
    const limit = this.state.fields.get('server_presence_offline_threshold_seconds') ?? OFFLINE_AFTER_SECONDS;
    const since = this.clock.now() / 1000 - limit;
    if (presence.active_timestamp >= since) return 'active';
    return presence.idle_timestamp >= since ? 'idle' : 'offline';
  }
}
