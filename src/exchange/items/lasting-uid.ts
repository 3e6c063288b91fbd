const PLUGIN_UID = /^(\d{1,15})-(?:-?\d{1,12})-(?:-?\d{1,12})@([^\s@]{1,255})$/;

/** Returns the part of a UID of The Events Calendar that stays the same; undefined for another UID. */
export function lastingUid(uid: string): string | undefined {
  const [, id, host] = PLUGIN_UID.exec(uid) ?? [];
  return id === undefined ? undefined : `${id}@${host}`;
}

/** Returns what identifies the event of a UID: UIDs of The Events Calendar and of Fasti change whenever it moves. */
export const lastingPart = (uid: string): string => lastingUid(uid) ?? uid;
