import type { AllowedDomain } from '@parley/domain/realms';

/** Organization §5. */
export const presentAllowedDomain = ({ domain, allowsSubdomains }: AllowedDomain) => ({
  domain,
  allow_subdomains: allowsSubdomains,
});
