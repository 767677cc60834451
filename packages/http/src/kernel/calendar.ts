/** The last second of the year 9999: later times have no usual spelling. */
export const MAX_TIME = 253_402_300_799;
