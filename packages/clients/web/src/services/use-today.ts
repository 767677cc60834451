import { useEffect, useState } from 'react';

/** Renders the component again after midnight, when "Today" becomes another day. */
export function useToday(): void {
  const [, setToday] = useState('');
  // A timer until midnight would be late by the time for which the computer sleeps.
  useEffect(() => {
    const timer = setInterval(() => setToday(new Date().toDateString()), 60_000);
    return () => clearInterval(timer);
  }, []);
}
