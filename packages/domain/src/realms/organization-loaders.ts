import type { Snapshot } from '../kernel/snapshot.js';
import type { AllowedDomain } from './allowed-domains/allowed-domain.js';
import type { Playground } from './playgrounds/playground.js';

export const loadAllowedDomains = ({ caller, repositories }: Snapshot): Promise<readonly AllowedDomain[]> =>
  repositories.allowedDomains.list(caller.realmId);

export const loadPlaygrounds = ({ caller, repositories }: Snapshot): Promise<readonly Playground[]> =>
  repositories.playgrounds.list(caller.realmId);
