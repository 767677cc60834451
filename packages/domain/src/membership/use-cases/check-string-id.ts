import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { RESERVED_STRING_IDS } from '../add-realm.js';

export interface CheckStringIdInput {
  readonly stringId: string;
}

const MIN_LENGTH = 3;

/** Whether an organization could be called so: null, or why not (organization §3). For whoever fills in a form. */
export class CheckStringId {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  async execute(_caller: unknown, { stringId }: CheckStringIdInput): Promise<string | null> {
    if (stringId.length < MIN_LENGTH) return 'Subdomain needs to have length 3 or greater.';
    if (stringId.startsWith('-') || stringId.endsWith('-')) return "Subdomain cannot start or end with a '-'.";
    if (!/^[a-z0-9-]+$/.test(stringId)) return "Subdomain can only have lowercase letters, numbers, and '-'s.";
    if (await this.uow.read(({ realms }) => realms.findByStringId(stringId))) {
      return 'Subdomain already in use. Please choose a different one.';
    }
    return RESERVED_STRING_IDS.has(stringId) ? 'Subdomain reserved. Please choose a different one.' : null;
  }
}
