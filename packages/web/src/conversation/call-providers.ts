/** Ids of providers (organization §20). */
export const JITSI = 1;
export const BIG_BLUE_BUTTON = 4;
