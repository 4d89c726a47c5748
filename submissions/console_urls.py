"""Staff pages. Mounted in the console's own process only; see the project's URL table."""

from django.urls import path

from submissions.views import (
    console,
    duties,
    fleet,
    fleet_runs,
    links,
    owners,
    packages,
    platform_upstreams,
    registration,
    returns,
    rooms,
)

app_name = "console"
urlpatterns = [
    path("console/", console.inbox, name="inbox"),
    path("console/submissions/", console.running, name="submissions"),
    path("console/organisations/", registration.organisations, name="organisations"),
    path("console/links/", links.cases, name="links"),
    path("console/links/<uuid:which>/", links.case, name="link"),
    path("console/links/<uuid:which>/<slug:act>/", links.act, name="link_act"),
    path("console/registrations/<uuid:which>/", registration.registration, name="registration"),
    path("console/registrations/<uuid:which>/evidence/<int:number>/", registration.evidence, name="evidence"),
    path("console/registrations/<uuid:which>/<slug:act>/", registration.act, name="registration_act"),
    path("console/duties/", duties.review, name="duties"),
    path("console/duties/new/", duties.propose, name="duty_new"),
    path("console/duties/<uuid:duty>/<slug:act>/", duties.act, name="duty_act"),
    path("console/rooms/", rooms.rooms, name="rooms"),
    path("console/rooms/new/", rooms.propose, name="room_new"),
    path("console/rooms/<uuid:room>/<slug:act>/", rooms.act, name="room_act"),
    path("console/returns/", returns.returns, name="returns"),
    path("console/returns/new/", returns.propose, name="return_new"),
    path("console/returns/<uuid:which>/<slug:act>/", returns.act, name="return_act"),
    path("console/owners/", owners.owner_list, name="owners"),
    path("console/owners/<uuid:submission>/tell/", owners.order, name="owner_notice"),
    path("console/owners/<uuid:submission>/objection/", owners.objection, name="owner_objection"),
    path("console/packages/", packages.opening_list, name="packages"),
    path("console/packages/new/", packages.propose, name="package_new"),
    path("console/packages/<uuid:opening>/read/", packages.read, name="package_read"),
    path("console/packages/<uuid:opening>/<slug:act>/", packages.act, name="package_act"),
    path("console/upstreams/", platform_upstreams.upstreams, name="platform_upstreams"),
    path("console/upstreams/new/", platform_upstreams.new, name="platform_upstream_new"),
    path("console/upstreams/<uuid:upstream>/", platform_upstreams.upstream, name="platform_upstream"),
    path(
        "console/upstreams/<uuid:upstream>/credential/",
        platform_upstreams.credential,
        name="platform_upstream_credential",
    ),
    path(
        "console/upstreams/<uuid:upstream>/test/", platform_upstreams.try_out, name="platform_upstream_test"
    ),
    path(
        "console/upstreams/<uuid:upstream>/retire/",
        platform_upstreams.retire,
        name="platform_upstream_retire",
    ),
    path("console/workers/", fleet.workers, name="workers"),
    path("console/submissions/<uuid:submission>/", fleet_runs.submission, name="submission"),
    path("console/submissions/<uuid:submission>/rerun/", fleet_runs.rerun, name="rerun"),
    path("console/episodes/<int:number>/quarantine/", fleet_runs.quarantine, name="episode_quarantine"),
    path("console/quarantines/<uuid:which>/release/", fleet_runs.release, name="episode_release"),
    path("console/switches/<slug:switch>/<slug:act>/", fleet.switch, name="switch_act"),
    path("console/fleet/<slug:act>/<slug:scope>/<str:worker>/", fleet.order, name="fleet_order"),
    path("console/orders/<uuid:which>/lift/", fleet.lift, name="fleet_order_lift"),
]
