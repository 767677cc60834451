/** Where somebody who has a link joins (organization §9.1). `realmUrl` without a slash at the end. */
export const invitationLink = (realmUrl: string, key: string): string => `${realmUrl}/join/${key}/`;
